import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Scanner;

/** Sends requests with Java's HttpClient. curl.sh says what it reads and prints. */
class JavaClient {
    public static void main(String[] args) throws Exception {
        var client = HttpClient.newHttpClient();
        var lines = new Scanner(System.in);
        while (lines.hasNextLine()) {
            var words = lines.nextLine().trim().split(" ");
            var url = URI.create(args[0] + words[0]);
            var request = HttpRequest.newBuilder(url).header("Authorization", "Bearer " + words[1]);
            if (words.length == 3)
                request.header("Content-Type", "application/json").POST(BodyPublishers.ofString(words[2]));
            var answer = client.send(request.build(), BodyHandlers.ofString());
            var retryAfter = answer.headers().firstValue("Retry-After").orElse("");
            System.out.println(answer.body() + " " + answer.statusCode() + " " + retryAfter);
        }
    }
}
