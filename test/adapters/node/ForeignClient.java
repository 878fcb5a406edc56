// Java's own client, with its defaults: over HTTP/1.1 it offers an upgrade to HTTP/2 with each first request.
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

public class ForeignClient {
  public static void main(String[] args) throws Exception {
    HttpClient client = HttpClient.newHttpClient();
    for (int i = 0; i < 3; i++) {
      HttpRequest get = HttpRequest.newBuilder(URI.create(args[0] + "/hello")).build();
      HttpRequest post = HttpRequest.newBuilder(URI.create(args[0] + "/echo"))
          .header("content-type", "text/plain")
          .POST(HttpRequest.BodyPublishers.ofString("sent " + i))
          .build();
      for (HttpRequest request : new HttpRequest[] {get, post}) {
        HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
        System.out.println(response.statusCode() + " " + response.body());
      }
    }
  }
}
