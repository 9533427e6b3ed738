<?php
// Receives webhooks of the format whitelabel: checks the signature, drops duplicates and what is older than what it knows.
// php -S 127.0.0.1:8000 receive.php

$body = file_get_contents('php://input');
$payload = $_SERVER['HTTP_X_ONRAMP_PAYLOAD'] ?? '';
// The signature covers the text of the header, and the header is base64 of the body.
$expected = hash_hmac('sha512', $payload, getenv('CLOVERLEAF_SECRET'));
$isSigned = hash_equals($expected, $_SERVER['HTTP_X_ONRAMP_SIGNATURE'] ?? '');
if (!$isSigned || $payload !== base64_encode($body)) {
    http_response_code(401);
    error_log('wrong signature');
    return;
}

$event = json_decode($body, true);
['eventId' => $id, 'sequence' => $sequence] = $event['metadata'];
$subject = $event['referenceId'] ?? $event['metadata']['customerId'];
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
    error_log("new {$event['eventType']} {$event['status']}"); // here your program does its work
}
http_response_code(200);
