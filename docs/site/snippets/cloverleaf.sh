# call <method> <path> [<JSON body>]: signs a request of the white-label interface, sends it and prints the reply.
# Needs curl and openssl. The environment has CLOVERLEAF_URL, CLOVERLEAF_KEY and CLOVERLEAF_SECRET.
call() {
  body=${3:-'{}'} # a GET has no body: it is signed over {}
  payload=$(printf '{"body":%s,"timestamp":"%s000"}' "$body" "$(date +%s)" | openssl base64 -A)
  signature=$(printf %s "$payload" | openssl dgst -sha512 -hmac "$CLOVERLEAF_SECRET" | sed 's/.* //')
  if [ "$1" = GET ]; then set -- "$1" "$2"; else set -- "$1" "$2" -d "$body"; fi
  method=$1 path=$2
  shift 2
  curl -sS --max-time 30 -X "$method" "$CLOVERLEAF_URL$path" "$@" \
    -H 'content-type: application/json' \
    -H "apiKey: $CLOVERLEAF_KEY" -H "payload: $payload" -H "signature: $signature"
}

# field <name>: the first text of that name in the JSON on standard input.
field() { grep -o "\"$1\":\"[^\"]*\"" | head -n 1 | cut -d '"' -f 4; }

# v1 <method> <path> [<JSON body>] [<Idempotency-Key>]: the same for paths under /v1. Repeat a write with the key of the first time.
v1() {
  method=$1 path=$2 body=${3:-} key=${4:-$(openssl rand -hex 16)}
  mac() { openssl dgst -sha256 -hmac "$CLOVERLEAF_SECRET" -binary | openssl base64 -A; }
  token=$CLOVERLEAF_KEY.$(printf 'cloverleaf bearer %s' "$CLOVERLEAF_KEY" | openssl dgst -sha256 -hmac "$CLOVERLEAF_SECRET" | sed 's/.* //')
  if [ "$method" = GET ]; then
    curl -sS --max-time 30 "$CLOVERLEAF_URL$path" -H "authorization: Bearer $token"
    return
  fi
  digest="sha-256=:$(printf %s "$body" | openssl dgst -sha256 -binary | openssl base64 -A):"
  params="(\"@method\" \"@path\" \"content-digest\" \"idempotency-key\");created=$(date +%s);keyid=\"$CLOVERLEAF_KEY\";alg=\"hmac-sha256\""
  signature=$(printf '"@method": %s\n"@path": %s\n"content-digest": %s\n"idempotency-key": %s\n"@signature-params": %s' \
    "$method" "$path" "$digest" "$key" "$params" | mac)
  if [ -n "$body" ]; then set -- -d "$body" -H 'content-type: application/json'; else set --; fi
  curl -sS --max-time 30 -X "$method" "$CLOVERLEAF_URL$path" "$@" -H "authorization: Bearer $token" \
    -H "idempotency-key: $key" -H "content-digest: $digest" -H "signature-input: sig=$params" -H "signature: sig=:$signature:"
}
