# bash completion for pitot; made by `pitot docs bash`, do not edit
_pitot() {
    local word=${COMP_WORDS[COMP_CWORD]} command=record i
    for ((i = 1; i < COMP_CWORD; i++)); do
        [[ ${COMP_WORDS[i]} == -- ]] && { _command_offset $((i + 1)); return; }
    done
    local commands='record export energy report cpu heap gpu symbolize explain diff merge top mark schema serve doctor demo docs version'
    [[ " $commands " == *" ${COMP_WORDS[1]} "* ]] && command=${COMP_WORDS[1]}
    local options
    case $command in
    record) options='--output --interval --format --processes --report --duration --pid --heap --heap-mmap --heap-python --cpu --method --container --collect --no-collect --engine --engine-raw --alerts --alert-command --blackbox --blackbox-keep --tag --max-overhead --remote-write --otlp --push-label --push-token-file --push-processes --push-native --state-dir --region --carbon-intensity --pue --price-kwh --price-hour --currency --path.procfs --path.sysfs --path.rootfs --quiet --verbose --help' ;;
    export) options='--output --format --metric --profile --quiet --verbose --help' ;;
    energy) options='--region --carbon-intensity --pue --price-kwh --price-hour --currency --json --quiet --verbose --help' ;;
    report) options='--output --profile --region --carbon-intensity --pue --price-kwh --price-hour --currency --quiet --verbose --help' ;;
    cpu) options='--duration --pid --output --rate --stack --off-cpu --python --top --lines --method --path.procfs --path.sysfs --path.rootfs --quiet --verbose --help' ;;
    heap) options='--output --stack --top --heap --metric --leaks --mmap --python --lines --json --path.procfs --path.sysfs --path.rootfs --quiet --verbose --help' ;;
    gpu) options='--output --interval --format --processes --report --tool --top --cpu --method --collect --no-collect --engine --engine-raw --alerts --alert-command --tag --max-overhead --remote-write --otlp --push-label --push-token-file --push-processes --push-native --state-dir --region --carbon-intensity --pue --price-kwh --price-hour --currency --path.procfs --path.sysfs --path.rootfs --quiet --verbose --help' ;;
    symbolize) options='--debug-dir --output --quiet --verbose --help' ;;
    explain) options='--json --quiet --verbose --help' ;;
    diff) options='--gate --baseline --output --min-change --json --markdown --quiet --verbose --help' ;;
    merge) options='--output --quiet --verbose --help' ;;
    top) options='--interval --iterations --pid --panel --sort --filter --tree --at --engine --alerts --path.procfs --path.sysfs --path.rootfs --quiet --verbose --help' ;;
    mark) options='--run --keep --quiet --verbose --help' ;;
    schema) options='--json --markdown --quiet --verbose --help' ;;
    serve) options='--interval --processes --collect --no-collect --engine --engine-raw --alerts --alert-command --max-overhead --remote-write --otlp --push-label --push-token-file --push-processes --push-native --listen --token-file --tls-cert --tls-key --state-dir --history --history-age --runs --alert-webhook --allow-private-webhook --probe --probe-interval --path.procfs --path.sysfs --path.rootfs --quiet --verbose --help' ;;
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
