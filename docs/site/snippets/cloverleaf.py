"""call(method, path, body): signs a request, sends it and answers its `data`. Python 3.8 or newer, no packages."""
import base64
import hashlib
import hmac
import json
import os
import time
import urllib.error
import urllib.request


def call(method, path, body=None):
    body = {} if body is None or method == "GET" else body  # a GET has no body: it is signed over {}
    signed = json.dumps({"body": body, "timestamp": str(int(time.time() * 1000))})
    payload = base64.b64encode(signed.encode()).decode()
    secret = os.environ["CLOVERLEAF_SECRET"].encode()
    signature = hmac.new(secret, payload.encode(), hashlib.sha512).hexdigest()
    headers = {
        "content-type": "application/json",
        "apiKey": os.environ["CLOVERLEAF_KEY"],
        "payload": payload,
        "signature": signature,
    }
    data = None if method == "GET" else json.dumps(body).encode()
    request = urllib.request.Request(os.environ["CLOVERLEAF_URL"] + path, data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.load(response)["data"]
    except urllib.error.HTTPError as error:
        reply = json.load(error)
        raise RuntimeError(f"{path}: {reply['code']} {reply['reason']}: {reply['error']}") from None
