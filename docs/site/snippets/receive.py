"""Receives webhooks of the format whitelabel: checks the signature, drops duplicates and what is older than what it knows."""
import base64
import hashlib
import hmac
import json
import os
from http.server import BaseHTTPRequestHandler, HTTPServer

SECRET = os.environ["CLOVERLEAF_SECRET"].encode()
seen = set()  # in your program: a table with the event's id as its key
newest = {}  # in your program: a column beside the order


def is_genuine(headers, body):
    """The signature covers the text of the header, and the header is base64 of the body."""
    payload = headers.get("x-onramp-payload", "")
    expected = hmac.new(SECRET, payload.encode(), hashlib.sha512).hexdigest()
    is_signed = hmac.compare_digest(headers.get("x-onramp-signature", ""), expected)
    return is_signed and payload == base64.b64encode(body).decode()


def take(body):
    event = json.loads(body)
    metadata = event["metadata"]
    if metadata["eventId"] in seen:
        return f"duplicate {metadata['eventId']}"
    seen.add(metadata["eventId"])
    subject = str(event.get("referenceId") or metadata.get("customerId"))
    if metadata["sequence"] < newest.get(subject, 0):
        return f"older {metadata['eventId']}"
    newest[subject] = metadata["sequence"]
    return f"new {event['eventType']} {event['status']}"  # here your program does its work


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        is_ours = is_genuine(self.headers, body)
        print(take(body) if is_ours else "wrong signature", flush=True)
        self.send_response(200 if is_ours else 401)
        self.end_headers()

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8000"))), Receiver)
print("listening", flush=True)
server.serve_forever()
