import fastify from "fastify";
import { tell } from "./tell.mjs";

const app = fastify();
app.get("/", () => "Hello.");
await app.listen({ host: "127.0.0.1", port: 0 });
tell(app.server.address().port);
