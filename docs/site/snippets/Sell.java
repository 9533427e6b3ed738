import java.util.UUID;

/** Sells 100 USDC for rupees: a customer, a destination, a quote, an order, and its state until the money has arrived. */
public final class Sell {
    public static void main(String[] args) throws Exception {
        String customer = post("/v1/customers",
            "reference", UUID.randomUUID().toString(), // your own id of this customer
            "kind", "individual",
            "phone", "+91-9" + String.valueOf(System.nanoTime()).substring(0, 9)); // one phone is one customer
        // Only the sandbox verifies on request; elsewhere the customer opens the link of
        // POST /v1/customers/<id>/verification-link.
        Cloverleaf.call("POST", "/onramp/api/v2/whiteLabel/test/changeKycStatus",
            Cloverleaf.json("customerId", customer, "status", "BASIC_KYC_COMPLETED"));
        String account = post("/v1/customers/" + customer + "/destinations",
            "kind", "account", "asset", "inr", "accountNumber", "000111222333", "ifsc", "HDFC0000001");

        String quote = post("/v1/quotes", "payAsset", "usdc.matic20", "receiveAsset", "inr", "payAmount", "100");
        String order = Cloverleaf.v1("POST", "/v1/orders",
            Cloverleaf.json("quoteId", quote, "customerId", customer, "destinationId", account));
        String id = Cloverleaf.field(order, "id");
        System.out.println("order " + id + ": send 100 USDC to " + Cloverleaf.field(order, "address"));

        // The sandbox's customer pays: a token transfer on its chain.
        Cloverleaf.call("POST", "/sandbox/v1/pay", Cloverleaf.json("transactionId", id));
        while (!Cloverleaf.field(Cloverleaf.v1("GET", "/v1/orders/" + id, ""), "state").equals("settled"))
            Thread.sleep(1000);
        System.out.println("settled: paid to the bank account");
    }

    /** Answers the id of what was made. */
    private static String post(String path, String... pairs) throws Exception {
        return Cloverleaf.field(Cloverleaf.v1("POST", path, Cloverleaf.json(pairs)), "id");
    }
}
