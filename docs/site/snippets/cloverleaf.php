<?php
// Signs requests and sends them: v1() under /v1, call() of the white-label interface. PHP 8.0 or newer, no packages.

function call(string $method, string $path, array $body = []): mixed
{
    // A GET has no body: it is signed over {}. The cast makes an empty array an object.
    $sent = (object) ($method === 'GET' ? [] : $body);
    $timestamp = (string) (int) (microtime(true) * 1000);
    $payload = base64_encode(json_encode(['body' => $sent, 'timestamp' => $timestamp]));
    $signature = hash_hmac('sha512', $payload, getenv('CLOVERLEAF_SECRET'));
    $headers = [
        'content-type: application/json',
        'apiKey: ' . getenv('CLOVERLEAF_KEY'),
        'payload: ' . $payload,
        'signature: ' . $signature,
    ];
    return send($method, $path, $method === 'GET' ? '' : json_encode($sent), $headers)['data'];
}

// Repeat a write with the key of the first time: it takes effect once.
function v1(string $method, string $path, ?array $body = null, ?string $key = null): mixed
{
    $apiKey = getenv('CLOVERLEAF_KEY');
    $token = bin2hex(mac("cloverleaf bearer $apiKey"));
    $headers = ["authorization: Bearer $apiKey.$token"];
    if ($method === 'GET') {
        return send($method, $path, '', $headers);
    }
    $text = $body === null ? '' : json_encode((object) $body);
    $digest = 'sha-256=:' . base64_encode(hash('sha256', $text, true)) . ':';
    $key ??= bin2hex(random_bytes(16));
    $params = '("@method" "@path" "content-digest" "idempotency-key");created=' . time()
        . ';keyid="' . $apiKey . '";alg="hmac-sha256"';
    $signed = "\"@method\": $method\n\"@path\": $path\n\"content-digest\": $digest\n"
        . "\"idempotency-key\": $key\n\"@signature-params\": $params";
    array_push(
        $headers,
        "content-digest: $digest",
        "idempotency-key: $key",
        "signature-input: sig=$params",
        'signature: sig=:' . base64_encode(mac($signed)) . ':',
    );
    if ($text !== '') {
        $headers[] = 'content-type: application/json';
    }
    return send($method, $path, $text, $headers);
}

function mac(string $text): string
{
    return hash_hmac('sha256', $text, getenv('CLOVERLEAF_SECRET'), true);
}

function send(string $method, string $path, string $content, array $headers): mixed
{
    $options = ['method' => $method, 'header' => $headers, 'ignore_errors' => true, 'timeout' => 30];
    if ($content !== '') {
        $options['content'] = $content;
    }
    $text = file_get_contents(getenv('CLOVERLEAF_URL') . $path, false, stream_context_create(['http' => $options]));
    $reply = json_decode($text, true);
    preg_match('/ ([0-9]{3})/', $http_response_header[0], $found);
    if ($found[1] >= 400) {
        $why = $reply['detail'] ?? $reply['error'];
        throw new RuntimeException("$path: {$found[1]} {$reply['reason']}: $why");
    }
    return $reply;
}
