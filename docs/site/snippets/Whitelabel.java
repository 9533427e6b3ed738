import java.util.UUID;

/** In the white-label interface: sells 100 USDC for rupees: a customer, a quote, an order, and its status until the money has arrived. */
public final class Whitelabel {
    private static final String WL = "/onramp/api/v2/whiteLabel/";

    public static void main(String[] args) throws Exception {
        String customer = Cloverleaf.field(post("kyc/url",
            "clientCustomerId", UUID.randomUUID().toString(), // your own id of this customer
            "phoneNumber", "+91-9" + String.valueOf(System.nanoTime()).substring(0, 9), // one phone is one customer
            "type", "INDIVIDUAL"), "customerId");
        // Only the sandbox verifies on request; elsewhere the customer opens the kycUrl of that reply.
        post("test/changeKycStatus", "customerId", customer, "status", "BASIC_KYC_COMPLETED");
        String account = Cloverleaf.field(post("bank/addFiatAccount",
            "customerId", customer, "fiatAccount", "000111222333", "ifsc", "HDFC0000001"), "fiatAccountId");

        String quote = post("offramp/quote",
            "fromCurrency", "usdc", "toCurrency", "INR", "chain", "matic20", "fromAmount", "100");
        String amount = Cloverleaf.field(quote, "toAmount");
        String sale = post("offramp/createTransaction",
            "fromCurrency", "usdc", "toCurrency", "INR", "chain", "matic20", "fromAmount", "100",
            "rate", Cloverleaf.field(quote, "rate"), "toAmount", amount,
            "customerId", customer, "fiatAccountId", account);
        String id = Cloverleaf.field(sale, "transactionId");
        String address = Cloverleaf.field(sale, "depositAddress");
        System.out.println("send 100 USDC to " + address + ", to receive " + amount + " INR");

        // The sandbox's customer pays: a token transfer on its chain.
        post("test/changeOfframpStatus", "customerId", customer, "transactionId", id, "status", "2");
        String data;
        do {
            Thread.sleep(1000);
            data = post("offramp/transaction", "customerId", customer, "transactionId", id)
                .replaceFirst("^.*?\"data\":", "");
        } while (!Cloverleaf.field(data, "status").equals("6"));
        System.out.println("status 6: paid to the bank account");
    }

    private static String post(String endpoint, String... pairs) throws Exception {
        return Cloverleaf.call("POST", WL + endpoint, Cloverleaf.json(pairs));
    }
}
