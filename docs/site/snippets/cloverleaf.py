"""Signs requests and sends them: v1() under /v1, call() of the white-label interface. Python 3.8 or newer, no packages."""
import base64
import hashlib
import hmac
import json
import os
import time
import urllib.error
import urllib.request
import uuid

URL = os.environ["CLOVERLEAF_URL"]
KEY = os.environ["CLOVERLEAF_KEY"]
SECRET = os.environ["CLOVERLEAF_SECRET"].encode()


def call(method, path, body=None):
    body = {} if body is None or method == "GET" else body  # a GET has no body: it is signed over {}
    signed = json.dumps({"body": body, "timestamp": str(int(time.time() * 1000))})
    payload = base64.b64encode(signed.encode()).decode()
    signature = hmac.new(SECRET, payload.encode(), hashlib.sha512).hexdigest()
    headers = {
        "content-type": "application/json",
        "apiKey": KEY,
        "payload": payload,
        "signature": signature,
    }
    data = None if method == "GET" else json.dumps(body).encode()
    return send(method, path, data, headers)["data"]


def v1(method, path, body=None, key=None):
    """Repeat a write with the key of the first time: it takes effect once."""
    token = mac(f"cloverleaf bearer {KEY}").hex()
    headers = {"authorization": f"Bearer {KEY}.{token}"}
    if method == "GET":
        return send(method, path, None, headers)
    data = b"" if body is None else json.dumps(body).encode()
    if data:
        headers["content-type"] = "application/json"
    digest = f"sha-256=:{base64.b64encode(hashlib.sha256(data).digest()).decode()}:"
    covered = {"@method": method, "@path": path, "content-digest": digest, "idempotency-key": key or str(uuid.uuid4())}
    names = " ".join(f'"{name}"' for name in covered)
    params = f'({names});created={int(time.time())};keyid="{KEY}";alg="hmac-sha256"'
    text = "\n".join(f'"{name}": {value}' for name, value in {**covered, "@signature-params": params}.items())
    headers.update({
        "content-digest": digest,
        "idempotency-key": covered["idempotency-key"],
        "signature-input": f"sig={params}",
        "signature": f"sig=:{base64.b64encode(mac(text)).decode()}:",
    })
    return send(method, path, data or None, headers)


def mac(text):
    return hmac.new(SECRET, text.encode(), hashlib.sha256).digest()


def send(method, path, data, headers):
    request = urllib.request.Request(URL + path, data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            text = response.read()
            return json.loads(text) if text else None
    except urllib.error.HTTPError as error:
        reply = json.load(error)
        raise RuntimeError(f"{path}: {error.code} {reply['reason']}: {reply.get('detail') or reply.get('error')}") from None
