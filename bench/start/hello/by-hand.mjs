import { createServer } from "node:http";
import { tell } from "./tell.mjs";

const server = createServer((_request, response) => {
  response.setHeader("content-type", "text/plain; charset=utf-8");
  response.end("Hello.");
});
server.listen(0, "127.0.0.1", () => tell(server.address().port));
