<?php
// Receives webhooks: checks the signature, drops duplicates and what is older than what it knows.
// php -S 127.0.0.1:8000 receive.php

// Format standard, of /v1: the signature covers id, time and body, under the secret of the endpoint.
function isStandard(string $body): bool
{
    $key = base64_decode(str_replace('whsec_', '', getenv('WEBHOOK_SECRET') ?: ''));
    $at = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
    if ($key === '' || preg_match('/^[0-9]{1,12}$/', $at) !== 1 || abs(time() - (int) $at) > 300) {
        return false;
    }
    $id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$at.$body", $key, true));
    // Two while the secret is rotated.
    foreach (explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE']) as $one) {
        if (hash_equals($expected, $one)) {
            return true;
        }
    }
    return false;
}

// Format whitelabel: the signature covers the text of the header, which is base64 of the body, under the secret of your key.
function isWhitelabel(string $body): bool
{
    $key = getenv('CLOVERLEAF_SECRET') ?: '';
    $payload = $_SERVER['HTTP_X_ONRAMP_PAYLOAD'] ?? '';
    $isSigned = hash_equals(hash_hmac('sha512', $payload, $key), $_SERVER['HTTP_X_ONRAMP_SIGNATURE'] ?? '');
    return $key !== '' && $isSigned && $payload === base64_encode($body);
}

$body = file_get_contents('php://input');
if (!(isset($_SERVER['HTTP_WEBHOOK_SIGNATURE']) ? isStandard($body) : isWhitelabel($body))) {
    http_response_code(401);
    error_log('wrong signature');
    return;
}

$event = json_decode($body, true);
if (isset($event['metadata'])) { // whitelabel
    ['eventId' => $id, 'sequence' => $sequence] = $event['metadata'];
    $subject = $event['referenceId'] ?? $event['metadata']['customerId'];
    $says = "{$event['eventType']} {$event['status']}";
} else {
    ['id' => $id, 'sequence' => $sequence, 'subject' => $subject, 'type' => $says] = $event;
}
// In your program: a table with the event's id as its key, and a column beside the order.
$folder = sys_get_temp_dir() . '/cloverleaf-events';
is_dir($folder) || mkdir($folder, 0700);
$newest = (int) @file_get_contents("$folder/subject-$subject");
if (@fopen("$folder/event-$id", 'x') === false) {
    error_log("duplicate $id");
} elseif ($sequence < $newest) {
    error_log("older $id");
} else {
    file_put_contents("$folder/subject-$subject", $sequence);
    error_log("new $says"); // here your program does its work
}
http_response_code(200);
