/** Calls the server it is told of, by the built package, on whatever runtime runs it: prints what came of each call. */
import process from "node:process";
import { HttpClient } from "usher-http";

const [port, securePort, closedPort] = process.argv.slice(2);
const client = HttpClient.make({ timeoutMs: 10_000, maxBody: 1000 });

/** The status and the body of an answer, or which step of it failed. */
async function ask(path, init = {}, authority = `127.0.0.1:${port}`) {
  let response;
  try {
    response = await client.fetch(`http://${authority}${path}`, init);
  } catch {
    return "error";
  }
  return response.text().then(
    (text) => `${response.status} ${text}`,
    () => `${response.status} error`,
  );
}

async function secure(host) {
  return client.fetch(`https://${host}:${securePort}/`).then(
    async (response) => `${response.status} ${await response.text()}`,
    () => "error",
  );
}

/** What came of a stream whose call takes so long, and when it did; undefined where its time was over before its first piece. */
async function streamed(timeoutMs) {
  let reader;
  let first;
  try {
    const response = await client.fetch(`http://127.0.0.1:${port}/piece`, { timeoutMs });
    reader = response.body.getReader();
    first = new TextDecoder().decode((await reader.read()).value);
  } catch {
    return undefined;
  }
  return reader.read().then(
    () => `${first} ended`,
    ({ name }) => `${first} ${name}`,
  );
}

for (let i = 0; i < 10; i++) await ask("/kept/ten");
const outcomes = {
  "CL-01": await ask("/head/host", {}, `kim:secret@127.0.0.1:${port}`),
  "CL-03": await ask("/head/body", { method: "POST", body: "x".repeat(100) }),
  "CL-04": await ask("/head/none", { method: "POST" }),
  "CL-06 HEAD": await ask("/length", { method: "HEAD" }),
  "CL-06 204": await ask("/length/204"),
  "CL-06 304": await ask("/length/304"),
  "CL-06 then": await ask("/length/200"),
  "CL-07": await ask("/early"),
  "CL-09": await ask("/to-the-end"),
  "CL-16": [await ask("/stray"), await ask("/after-stray")].join(),
  "CL-19": await ask("/both"),
  "CL-21": await ask("/cut/head"),
  "CL-22 length": await ask("/cut/length"),
  "CL-22 chunked": await ask("/cut/chunked"),
  "CL-24 20": await ask("/status/20"),
  "CL-24 2000": await ask("/status/2000"),
  "CL-24 099": await ask("/status/099"),
  "CL-24 600": await ask("/status/600"),
  // Without a body the platform makes no new Response, which would refuse the status too.
  "CL-24 600 HEAD": await ask("/status/600", { method: "HEAD" }),
  "CL-25": await ask("/reason"),
  "CL-27": await ask("/long"),
  "CL-28": await ask("/", {}, `127.0.0.1:${closedPort}`),
  "CL-30": (await streamed(200)) ?? (await streamed(1000)) ?? (await streamed(5000)),
  "CL-15 GET": await ask("/met-by-a-close"),
  "CL-15 POST": await ask("/met-by-a-close", { method: "POST", body: "x" }),
  "CL-18 name": await secure("localhost"),
  "CL-18 address": await secure("127.0.0.1"),
};
for (let i = 0; i < 2; i++) await ask("/kept/one-second");
console.log(JSON.stringify(outcomes));
process.exit(0);
