/**
 * The smallest server. Run `node examples/hello.ts`, then `curl localhost:8080/hello/Ada`.
 */
import { Path, Returns, get, param } from "usher-http";
import { serve } from "usher-http/node";

const name = Path.str("name");

const hello = get(
  Path.of("hello", name),
  { inputs: { name: param(name) }, returns: Returns.text },
  ({ name }) => `Hello, ${name}.`,
);

const { PORT = "8080" } = process.env;
await serve([hello], { port: Number(PORT) });
