"""Texts with a secret in them, a row per kind, and texts that only look like it.

The secrets are made here, always the same ones, so that no scanner finds one in this repository."""
import base64
import random
import string

ALNUM = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
HEX = '0123456789abcdef'
CAPITALS = string.ascii_uppercase + '234567'
URL_SAFE = ALNUM + '-_'


def made(kind, length, alphabet=ALNUM):
    """Mixed as a generator mixes; the same for the same kind."""
    chance = random.Random(kind)
    text = ''.join(chance.choice(alphabet) for _ in range(length - 2))
    return alphabet[-1] + text + alphabet[-3] # a digit, and no separator at the ends


def prefixed():
    """(prefix, length, alphabet) as vendors make their tokens."""
    return [
        ('hf_', 34, ALNUM), ('sk-proj-', 48, ALNUM), ('sk-ant-api03-', 80, ALNUM),
        ('sk-', 48, ALNUM), ('sk-or-v1-', 64, HEX), ('gsk_', 52, ALNUM), ('xai-', 80, ALNUM),
        ('pplx-', 48, ALNUM), ('nvapi-', 64, URL_SAFE), ('r8_', 37, ALNUM),
        ('tgp_v1_', 43, URL_SAFE), ('dapi', 32, HEX), ('ghp_', 36, ALNUM), ('gho_', 36, ALNUM),
        ('ghs_', 36, ALNUM), ('github_pat_', 82, ALNUM), ('glpat-', 20, URL_SAFE),
        ('glrt-', 20, URL_SAFE), ('xoxb-1234567890-', 24, ALNUM), ('xoxp-1234567890-', 32, HEX),
        ('xapp-1-A1B2C3-', 40, HEX), ('AKIA', 16, CAPITALS), ('ASIA', 16, CAPITALS),
        ('AIza', 35, URL_SAFE), ('ya29.', 60, URL_SAFE), ('GOCSPX-', 28, URL_SAFE),
        ('npm_', 36, ALNUM), ('pypi-AgEIcHlwaS5vcmc', 60, URL_SAFE), ('dckr_pat_', 27, URL_SAFE),
        ('hvs.', 90, URL_SAFE), ('SG.' + made('sg', 22) + '.', 43, URL_SAFE),
        ('sk_live_', 24, ALNUM), ('rk_live_', 24, ALNUM), ('whsec_', 32, ALNUM),
        ('shpat_', 32, HEX), ('dop_v1_', 64, HEX), ('lin_api_', 40, ALNUM), ('ntn_', 46, ALNUM),
        ('figd_', 40, URL_SAFE), ('PMAK-', 59, HEX), ('NRAK-', 27, CAPITALS),
        ('glsa_', 40, ALNUM), ('lsv2_pt_', 42, HEX), ('pcsk_', 70, ALNUM),
        ('ATATT3', 60, URL_SAFE), ('sbp_', 40, HEX), ('pscale_pw_', 43, URL_SAFE),
        ('pul-', 40, HEX), ('rubygems_', 48, HEX), ('tskey-auth-', 30, ALNUM),
        ('AGE-SECRET-KEY-1', 58, CAPITALS), ('squ_', 40, HEX), ('KGAT_', 32, HEX),
        ('tvly-', 32, ALNUM),
    ]


def planted():
    """(kind, words, secret): the words of a command line, the part that must never be seen."""
    rows = []

    def add(kind, words, secret):
        rows.append((kind, [words] if isinstance(words, str) else words, secret))
    for prefix, length, alphabet in prefixed():
        body = made(prefix, length, alphabet)
        add(f'token {prefix[:12]}', prefix + body, body)
    plain = {name: made(name, 24) for name in (
        'option', 'equals', 'pat', 'password', 'variable', 'header', 'bearer', 'split', 'basic',
        'cookie', 'login', 'user', 'url', 'urluser', 'query', 'fragment', 'bare', 'json',
        'python', 'yaml', 'dsn', 'mysql', 'sshpass', 'redis', 'weak', 'secret', 'passphrase',
        'session', 'hook', 'env')}
    add('--token X', ['--token', plain['option']], plain['option'])
    add('--api-key=X', '--api-key=' + plain['equals'], plain['equals'])
    add('--pat X', ['--pat', plain['pat']], plain['pat'])
    add('--password=X', '--password=' + plain['password'], plain['password'])
    add('NAME_TOKEN=X', 'MY_SERVICE_TOKEN=' + plain['variable'], plain['variable'])
    add('client secret', 'clientSecret=' + plain['secret'], plain['secret'])
    add('passphrase', '--key-passphrase=' + plain['passphrase'], plain['passphrase'])
    add('header', 'X-Api-Key: ' + plain['header'], plain['header'])
    add('Bearer in a sentence', f'sent Bearer {plain["bearer"]} to the server', plain['bearer'])
    add('Authorization, not quoted', ['Authorization:', 'Bearer', plain['split']], plain['split'])
    basic = base64.b64encode(b'joe:' + plain['basic'].encode()).decode()
    add('Basic', 'Authorization: Basic ' + basic, basic)
    add('Cookie', 'Cookie: id=' + plain['cookie'], plain['cookie'])
    add('-u user:password', ['-u', 'joe:' + plain['login']], plain['login'])
    add('url password', f'postgres://joe:{plain["url"]}@db.example/x', plain['url'])
    add('url token', f'https://{plain["urluser"]}@git.example/x.git', plain['urluser'])
    add('url token and word', f'https://{plain["user"]}:x-oauth-basic@git.example/x', plain['user'])
    add('query key', f'https://h.example/v1?a=1&access_token={plain["query"]}&b=2', plain['query'])
    add('fragment', f'https://app.example/cb#id_token={plain["fragment"]}', plain['fragment'])
    sas = made('sas', 43) + '%3D'
    add('Azure SAS', f'https://a.blob.core.windows.net/c?sv=2024&sig={sas}&se=2030', sas)
    signature = made('amz', 64, HEX)
    add('AWS signature', f'https://b.s3.amazonaws.com/o?X-Amz-Date=1&X-Amz-Signature={signature}',
        signature)
    add('login without scheme', f'joe:{plain["bare"]}@proxy.example:3128', plain['bare'])
    add('JSON', '{"model": "m", "api_key": "%s"}' % plain['json'], plain['json'])
    add('Python', "{'password': '%s', 'n': 1}" % plain['python'], plain['python'])
    add('YAML', 'db_password: ' + plain['yaml'], plain['yaml'])
    add('libpq', f'host=db password={plain["dsn"]} user=joe', plain['dsn'])
    account = base64.b64encode(made('account', 64).encode()).decode()
    add('connection string', f'AccountName=a;AccountKey={account};EndpointSuffix=e', account)
    add('mysql -pX', ['mysql', '-p' + plain['mysql']], plain['mysql'])
    add('sshpass -p X', ['sshpass', '-p', plain['sshpass'], 'ssh'], plain['sshpass'])
    add('redis-cli -a X', ['redis-cli', '-a', plain['redis']], plain['redis'])
    add('random value of a doubtful name', 'key=' + plain['weak'], plain['weak'])
    add('session', 'session=' + plain['session'], plain['session'])
    aws = made('aws', 40, ALNUM + '/+')
    add('AWS secret key', 'AWS_SECRET_ACCESS_KEY=' + aws, aws)
    pair = made('pair', 40, ALNUM + '/+')
    add('AWS id and key', f'AKIA{made("pairid", 16, CAPITALS)}:{pair}', pair)
    web = '.'.join(base64.urlsafe_b64encode(part).decode().rstrip('=') for part in (
        b'{"alg":"HS256","typ":"JWT"}', b'{"sub":"' + made('jwt', 20).encode() + b'"}',
        made('jwt signature', 32).encode()))
    add('JWT', web, web.rsplit('.', 1)[1])
    pem = made('pem', 200, ALNUM + '+/')
    add('PEM', f'-----BEGIN RSA PRIVATE KEY-----\\n{pem}\\n-----END RSA PRIVATE KEY-----', pem[40:])
    add('PEM, not quoted', ['-----BEGIN', 'PRIVATE', 'KEY-----', pem[::-1], '-----END', 'PRIVATE',
                            'KEY-----'], pem[::-1])
    google = made('google', 64, HEX)
    add('service account', '{"type":"service_account","private_key":"%s"}' % google, google)
    slack = made('slack', 24)
    add('Slack webhook', f'https://hooks.slack.com/services/T0000AAAA/B0000BBBB/{slack}', slack)
    discord = made('discord', 68, URL_SAFE)
    add('Discord webhook', f'https://discord.com/api/webhooks/1234567890123456/{discord}', discord)
    teams = made('teams', 32, HEX)
    add('Teams webhook', f'https://x.webhook.office.com/webhookb2/{teams}/IncomingWebhook/1', teams)
    own = made('own hook', 26, LOWER)
    add('another webhook', f'https://chat.example/hooks/{own}', own)
    named = made('named', 9, LOWER)
    add('SLACK_WEBHOOK_URL', f'SLACK_WEBHOOK_URL=https://chat.example/{named}', named)
    telegram = 'AA' + made('telegram', 33, URL_SAFE)
    add('Telegram', f'https://api.telegram.org/bot123456789:{telegram}/sendMessage', telegram)
    bot = f'M{made("bot", 23)}.{made("bot2", 6)}.{made("bot3", 27)}'
    add('Discord bot', bot, bot[30:])
    azure = 'abc8Q~' + made('azure', 34)
    add('Azure application', azure, azure[6:])
    return rows


PLAIN = [
    'da39a3ee5e6b4b0d3255bfef95601890afd80709',
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    'd41d8cd98f00b204e9800998ecf8427e', 'commit 1f2e3d4', 'v1.2.3-14-g2414721b',
    '550e8400-e29b-41d4-a716-446655440000', 'GPU-8f5c2b3a-1d4e-4f6a-9b8c-7d6e5f4a3b2c',
    'docker.io/vllm/vllm@sha256:9c1a4b2f8d7e6c5b4a39281706f5e4d3c2b1a0998877665544332211ffeeddcc',
    'nvcr.io/nvidia/pytorch:24.10-py3', 'registry.example:5000/team/image:1.2',
    'meta-llama/Llama-3.1-70B-Instruct', 'Qwen/Qwen2.5-Coder-32B-Instruct-GPTQ-Int4',
    'mistralai/Mixtral-8x7B-Instruct-v0.1', 'TheBloke/CodeLlama-34B-GGUF:Q4_K_M', 'gpt2-xl',
    'sk-learn-1.2', 'hf-internal-testing/tiny-random-LlamaForCausalLM',
    'sentence-transformers/all-MiniLM-L6-v2',
    '/hub/models--meta-llama--Llama-2-7b/snapshots/f5db02db724555f92da89c216ac04704f23d4590/a.json',
    '/usr/lib/python3.11/site-packages/torch/nn/modules/module.py',
    '/home/joe/.cache/huggingface/hub',
    '/sys/fs/cgroup/kubepods.slice/kubepods-b.slice/kubepods-burstable-pod1234abcd_12ab.slice',
    'cri-containerd-4f1d3c2b5a69788796a5b4c3d2e1f0ff00112233445566778899aabbccddeeff.scope',
    '/docker/4f1d3c2b5a69788796a5b4c3d2e1f0ff00112233445566778899aabbccddeeff',
    'data=aGVsbG8gd29ybGQ=', 'note: eyJhIjoxfQ==',
    'blob iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ', '12345678901234567890',
    'pid 4242, 18446744073709551615', '2024-05-06T07:08:09.123456789Z',
    'aten::scaled_dot_product_attention',
    'void at::native::vectorized_elementwise_kernel<4, float>',
    'ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)',
    'vllm:time_per_output_token_seconds', 'model_name="meta-llama/Llama-3.1-8B",engine="0"',
    'vllm serve m --max-num-batched-tokens=8192 --tokenizer-mode auto --port 8000',
    '--eos-token-id 2',
    'python -m torch.distributed.run --nproc-per-node 8 --rdzv-endpoint host01:29500 train.py',
    '--tokens-per-second 100 --key-value-store /db --cache-key prompt',
    'http://127.0.0.1:8000/metrics',
    'https://huggingface.co/meta-llama/Llama-3.1-8B/resolve/main/config.json',
    'https://github.com/pytorch/pytorch/tree/main/tools/linter', 'git@github.com:joe/pitot.git',
    'ssh://git@host/x', 'user@host.example', 'joe <joe@example.org>',
    'http://[::1]:9090/api/v1/write', 'forward', 'step 1200: loss=2.31 lr=3e-4',
    'epoch=3 batch=64 seed=42', 'keyboard=us monkey=1', 'author=joe', 'code=137', 'access=read',
    'the basic training of a bearer took 3 h', 'token budget 512', 'no password was needed',
    'kworker/u16:3-events_unbound', 'systemd-journald', 'C:\\temp\\new', '=1+1', 'ab.cd-ef_gh',
    'AKIA', 'eyJust', 'ghp_', 'hf_hub_download', 'MIIT', 'dapibus-lorem', 'sk_buff_alloc',
    'npm_config_registry', 'pypi-mirror', 'glpat', 'xoxo', 'SG.1', 'SIGTERM: 15', 'cuda:0',
    'NCCL_SOCKET_IFNAME=eth0', 'CUDA_VISIBLE_DEVICES=0,1,2,3', 'OMP_NUM_THREADS=16',
    'HF_HOME=/cache', 'VLLM_ATTENTION_BACKEND=FLASH_ATTN', 'PYTHONHASHSEED=0',
    'LD_PRELOAD=/usr/lib/x.so', 'torchrun --nnodes=2 --node_rank=0 --master_addr=10.0.0.1',
    'lora-adapter-r16-alpha32-dropout005-v2', 'checkpoint-000012000.safetensors',
    'shard-00001-of-00030.parquet', 'wandb/run-20240506_070809-1a2b3c4d',
]
