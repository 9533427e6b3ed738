# call <method> <path> [<JSON body>]: signs a request, sends it and prints the reply.
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
field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }
