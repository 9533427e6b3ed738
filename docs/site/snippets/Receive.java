import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** Receives webhooks of the format whitelabel: checks the signature, drops duplicates and what is older than what it knows. */
public final class Receive {
    /** In your program: a table with the event's id as its key, and a column beside the order. */
    private static final Set<String> SEEN = new HashSet<>();
    private static final Map<String, Long> NEWEST = new HashMap<>();

    public static void main(String[] args) throws IOException {
        int port = Integer.parseInt(System.getenv().getOrDefault("PORT", "8000"));
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
        server.createContext("/", Receive::answer);
        server.start();
        System.out.println("listening");
    }

    private static synchronized void answer(HttpExchange exchange) throws IOException {
        byte[] body = exchange.getRequestBody().readAllBytes();
        boolean isOurs = isGenuine(exchange, body);
        System.out.println(isOurs ? take(new String(body, StandardCharsets.UTF_8)) : "wrong signature");
        exchange.sendResponseHeaders(isOurs ? 200 : 401, -1);
        exchange.close();
    }

    /** The signature covers the text of the header, and the header is base64 of the body. */
    private static boolean isGenuine(HttpExchange exchange, byte[] body) throws IOException {
        String payload = header(exchange, "x-onramp-payload");
        String expected;
        try {
            expected = Cloverleaf.hmac(payload);
        } catch (Exception error) {
            throw new IOException(error);
        }
        boolean isSigned = MessageDigest.isEqual(expected.getBytes(), header(exchange, "x-onramp-signature").getBytes());
        return isSigned && payload.equals(Base64.getEncoder().encodeToString(body));
    }

    private static String header(HttpExchange exchange, String name) {
        String value = exchange.getRequestHeaders().getFirst(name);
        return value == null ? "" : value;
    }

    private static String take(String event) {
        String id = Cloverleaf.field(event, "eventId");
        if (!SEEN.add(id)) return "duplicate " + id;
        String order = Cloverleaf.field(event, "referenceId");
        String subject = order.isEmpty() ? Cloverleaf.field(event, "customerId") : order;
        long sequence = Long.parseLong(Cloverleaf.field(event, "sequence"));
        if (sequence < NEWEST.getOrDefault(subject, 0L)) return "older " + id;
        NEWEST.put(subject, sequence);
        // Here your program does its work.
        return "new " + Cloverleaf.field(event, "eventType") + " " + Cloverleaf.field(event, "status");
    }
}
