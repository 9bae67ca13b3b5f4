import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;

/** A partner's client with Java's HttpClient. Arguments: URL, key, world. check-clients.ts has the expected output. */
class JavaClient {
    static final String USER = "/api/ib/user-status?user_id=";
    static final String DEPOSIT = "/api/ib/deposit-check?reference_id=";
    static final String NOBODY = "00000000-0000-4000-8000-000000000000";
    static final HttpClient client = HttpClient.newHttpClient();
    static String url, key, world;

    static HttpResponse<String> ask(String path, String withKey) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(url + path)).header("Authorization", "Bearer " + withKey);
        return client.send(request.build(), BodyHandlers.ofString());
    }

    /** Moves the mock's clock forward, instead of a sleep. */
    static void waitFor(String seconds) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(url + "/__admin/clock/advance?world=" + world))
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString("{\"seconds\": " + seconds + "}"));
        var status = client.send(request.build(), BodyHandlers.discarding()).statusCode();
        if (status != 200) throw new IllegalStateException("clock/advance: " + status);
    }

    static void show(String what, String path, String withKey) throws Exception {
        var answer = ask(path, withKey);
        System.out.println(what + " " + answer.statusCode() + " " + answer.body());
    }

    public static void main(String[] args) throws Exception {
        url = args[0];
        key = args[1];
        world = args[2];
        show("valid user-status", USER + "11111111-1111-4111-8111-111111111111", key);
        show("valid deposit-check", DEPOSIT + "44444444-4444-4444-8444-444444444444", key);

        show("invalid user-status", USER + "x", key);
        show("invalid deposit-check", DEPOSIT + NOBODY, key);
        show("invalid key", USER + "11111111-1111-4111-8111-111111111111", "nope");

        var count = 0;
        var answer = ask(USER + NOBODY, key);
        for (; answer.statusCode() == 200 && count < 100; count++) answer = ask(USER + NOBODY, key);
        var retryAfter = answer.headers().firstValue("Retry-After").orElseThrow();
        System.out.println(
            "limited after " + count + ": " + answer.statusCode() + " " + retryAfter + " " + answer.body());
        waitFor(retryAfter);
        show("limited no more:", USER + NOBODY, key);

        var polls = new ArrayList<String>();
        do {
            if (!polls.isEmpty()) waitFor("1");
            answer = ask(DEPOSIT + "77777777-7777-4777-8777-777777777777", key);
            polls.add("" + answer.statusCode());
        } while (answer.statusCode() == 404 && polls.size() < 10);
        System.out.println("polling " + String.join(" ", polls) + " " + answer.body());
    }
}
