import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Signs requests and sends them. Java 17 or newer, no packages. */
public final class Cloverleaf {
    private static final HttpClient HTTP = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(10)).build();

    /** Answers the reply as text, for the JSON library of your choice. A GET has no body: it is signed over {}. */
    public static String call(String method, String path, String body) throws Exception {
        String signed = "{\"body\":" + (method.equals("GET") ? "{}" : body)
            + ",\"timestamp\":\"" + System.currentTimeMillis() + "\"}";
        String payload = Base64.getEncoder().encodeToString(signed.getBytes(StandardCharsets.UTF_8));
        HttpRequest request = HttpRequest.newBuilder(URI.create(System.getenv("CLOVERLEAF_URL") + path))
            .timeout(Duration.ofSeconds(30))
            .header("content-type", "application/json")
            .header("apiKey", System.getenv("CLOVERLEAF_KEY"))
            .header("payload", payload)
            .header("signature", hmac(payload))
            .method(method, method.equals("GET")
                ? HttpRequest.BodyPublishers.noBody()
                : HttpRequest.BodyPublishers.ofString(body))
            .build();
        HttpResponse<String> response = HTTP.send(request, HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() != 200) throw new IllegalStateException(path + ": " + response.body());
        return response.body();
    }

    /** HMAC-SHA512 under the secret of the key, in lower-case hex. */
    static String hmac(String text) throws Exception {
        byte[] secret = System.getenv("CLOVERLEAF_SECRET").getBytes(StandardCharsets.UTF_8);
        Mac mac = Mac.getInstance("HmacSHA512");
        mac.init(new SecretKeySpec(secret, "HmacSHA512"));
        return HexFormat.of().formatHex(mac.doFinal(text.getBytes(StandardCharsets.UTF_8)));
    }

    /** A JSON object of names and texts. A program of yours writes JSON with a library. */
    static String json(String... pairs) {
        StringBuilder text = new StringBuilder("{");
        for (int at = 0; at < pairs.length; at += 2)
            text.append(at == 0 ? "\"" : ",\"").append(pairs[at]).append("\":\"").append(pairs[at + 1]).append("\"");
        return text.append("}").toString();
    }

    /** The first text or number of a name in a reply. A program of yours reads JSON with a library. */
    static String field(String json, String name) {
        Matcher found = Pattern.compile("\"" + name + "\":\"?([^\",}]*)").matcher(json);
        return found.find() ? found.group(1) : "";
    }
}
