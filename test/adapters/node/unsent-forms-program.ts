/** Run by each Node: a server that answers with a `FormData` of the platform. */
import { Path, Returns, clientGone, get } from "usher-http";
import { serve } from "../../../adapters/node/index.ts";

const form = (): Response => {
  const data = new FormData();
  for (let i = 0; i < 20; i++) data.append("file", new Blob([`${i}`]), "a.txt");
  return new Response(data);
};

const routes = [
  get(Path.of("form"), { returns: Returns.response }, form),
  get(Path.of("late"), { inputs: { clientGone }, returns: Returns.response }, async ({ clientGone }) => {
    await new Promise<void>((resolve) => {
      clientGone.addEventListener("abort", () => resolve());
      console.log(JSON.stringify({ what: "asked" }));
    });
    console.log(JSON.stringify({ what: "gone" }));
    return form();
  }),
];

const server = await serve(routes, { port: 0, host: "127.0.0.1" });
console.log(JSON.stringify({ port: server.port, url: server.url }));
