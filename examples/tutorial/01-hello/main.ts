import { Path, Returns, get } from "usher-http";
import { serve } from "usher-http/node";

const hello = get(Path.of("hello"), { returns: Returns.text }, () => "Hello.");

await serve([hello], { port: 8080 });
