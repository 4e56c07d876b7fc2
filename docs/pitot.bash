# bash completion for pitot; made by `pitot docs bash`, do not edit
_pitot() {
    local word=${COMP_WORDS[COMP_CWORD]} command=record i
    for ((i = 1; i < COMP_CWORD; i++)); do
        [[ ${COMP_WORDS[i]} == -- ]] && { _command_offset $((i + 1)); return; }
    done
    local commands='record export energy report cpu heap explain diff mark schema doctor demo docs version'
    [[ " $commands " == *" ${COMP_WORDS[1]} "* ]] && command=${COMP_WORDS[1]}
    local options
    case $command in
    record) options='--output --interval --format --processes --report --duration --pid --cpu --method --container --collect --no-collect --engine --engine-raw --alerts --tag --max-overhead --region --carbon-intensity --pue --price-kwh --price-hour --currency --path.procfs --path.sysfs --path.rootfs --quiet --verbose --help' ;;
    export) options='--output --format --profile --quiet --verbose --help' ;;
    energy) options='--region --carbon-intensity --pue --price-kwh --price-hour --currency --json --quiet --verbose --help' ;;
    report) options='--output --profile --region --carbon-intensity --pue --price-kwh --price-hour --currency --quiet --verbose --help' ;;
    cpu) options='--duration --pid --output --rate --stack --off-cpu --python --top --lines --method --path.procfs --path.sysfs --path.rootfs --quiet --verbose --help' ;;
    heap) options='--output --stack --top --heap --metric --leaks --mmap --python-malloc --path.procfs --path.sysfs --path.rootfs --quiet --verbose --help' ;;
    explain) options='--json --quiet --verbose --help' ;;
    diff) options='--gate --baseline --min-change --json --markdown --quiet --verbose --help' ;;
    mark) options='--run --quiet --verbose --help' ;;
    schema) options='--json --markdown --quiet --verbose --help' ;;
    doctor) options='--json --path.procfs --path.sysfs --path.rootfs --quiet --verbose --help' ;;
    demo) options='--seconds --threads --serve --listen --load --self-load --requests --concurrency --quiet --verbose --help' ;;
    docs) options='--quiet --verbose --help' ;;
    version) options='--quiet --verbose --help' ;;
    esac
    if [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$word"))
    elif ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W "$commands" -- "$word"))
    else
        COMPREPLY=($(compgen -f -- "$word"))
    fi
}
complete -F _pitot pitot
