"""Receives webhooks: checks the signature, drops duplicates and what is older than what it knows."""
import base64
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

seen = set()  # in your program: a table with the event's id as its key
newest = {}  # in your program: a column beside the order


def is_standard(headers, body):
    """Format standard, of /v1: the signature covers id, time and body, under the secret of the endpoint."""
    key = base64.b64decode(os.environ.get("WEBHOOK_SECRET", "").replace("whsec_", ""))
    at = headers.get("webhook-timestamp", "")
    if not key or not at.isdigit() or abs(time.time() - int(at)) > 300:
        return False
    signed = f"{headers.get('webhook-id', '')}.{at}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    # Two while the secret is rotated.
    given = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(expected.encode(), one.encode()) for one in given)


def is_whitelabel(headers, body):
    """Format whitelabel: the signature covers the text of the header, which is base64 of the body, under the secret of your key."""
    key = os.environ.get("CLOVERLEAF_SECRET", "").encode()
    payload = headers.get("x-onramp-payload", "")
    expected = hmac.new(key, payload.encode(), hashlib.sha512).hexdigest()
    is_signed = hmac.compare_digest(expected.encode(), headers.get("x-onramp-signature", "").encode())
    return bool(key) and is_signed and payload == base64.b64encode(body).decode()


def take(event):
    if "metadata" in event:  # whitelabel
        about = event["metadata"]
        event_id, sequence = about["eventId"], about["sequence"]
        subject, says = str(event.get("referenceId") or about.get("customerId")), f"{event['eventType']} {event['status']}"
    else:
        event_id, sequence, subject, says = event["id"], event["sequence"], event["subject"], event["type"]
    if event_id in seen:
        return f"duplicate {event_id}"
    seen.add(event_id)
    if sequence < newest.get(subject, 0):
        return f"older {event_id}"
    newest[subject] = sequence
    return f"new {says}"  # here your program does its work


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        is_genuine = is_standard if "webhook-signature" in self.headers else is_whitelabel
        is_ours = is_genuine(self.headers, body)
        print(take(json.loads(body)) if is_ours else "wrong signature", flush=True)
        self.send_response(200 if is_ours else 401)
        self.end_headers()

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8000"))), Receiver)
print("listening", flush=True)
server.serve_forever()
