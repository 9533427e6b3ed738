<?php
// A sale of 100 USDC that is paid with 50 alone: its deadline passes, and what came goes back to the customer.
require __DIR__ . '/cloverleaf.php';

$customer = v1('POST', '/v1/customers', [
    'reference' => bin2hex(random_bytes(8)),
    'kind' => 'individual',
    'phone' => '+91-9' . random_int(100000000, 999999999),
])['id'];
call('POST', '/onramp/api/v2/whiteLabel/test/changeKycStatus', [
    'customerId' => $customer,
    'status' => 'BASIC_KYC_COMPLETED',
]);
$account = v1('POST', "/v1/customers/$customer/destinations", [
    'kind' => 'account',
    'asset' => 'inr',
    'accountNumber' => '000111222333',
    'ifsc' => 'HDFC0000001',
])['id'];
$wallet = v1('POST', "/v1/customers/$customer/destinations", [
    'kind' => 'address',
    'chain' => 'matic20',
    'address' => '0x90f79bf6eb2c4f870365e785982e1f101e93b906',
])['id'];
$quote = v1('POST', '/v1/quotes', ['payAsset' => 'usdc.matic20', 'receiveAsset' => 'inr', 'payAmount' => '100']);
$order = v1('POST', '/v1/orders', [
    'quoteId' => $quote['id'],
    'customerId' => $customer,
    'destinationId' => $account,
])['id'];

function becomes(string $order, string $field, string $value): array
{
    while (($now = v1('GET', "/v1/orders/$order"))[$field] !== $value) {
        sleep(1);
    }
    return $now;
}

// The sandbox's customer pays half.
call('POST', '/sandbox/v1/pay', ['transactionId' => $order, 'how' => 'under']);
$received = becomes($order, 'reason', 'underpaid')['received'];
echo "order $order: {$received['amount']} of 100 USDC came; the rest may come until its deadline\n";

// Nothing more comes. The sandbox's clock brings the deadline nearer; then the order is on hold, and its money may go back.
call('POST', '/sandbox/v1/clock', ['advance' => '2h']);
becomes($order, 'state', 'on_hold');
v1('POST', "/v1/orders/$order/refund", ['destinationId' => $wallet]);
becomes($order, 'state', 'refunded');
$refund = v1('GET', "/v1/orders/$order/refunds")['data'][0];
echo "refunded: {$refund['amount']['amount']} USDC are back by the transfer {$refund['hash']}\n";
