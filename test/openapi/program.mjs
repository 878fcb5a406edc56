/** Serves no socket: prints what the docs routes of the built package answer, on whatever runtime runs it. */
import { App, Openapi, Path, Returns, get } from "usher-http";

const hello = get(Path.of("hello"), { summary: "Says hello", returns: Returns.text }, () => "hello");
const paths = { document: Path.of("scalar.json"), at: Path.of("scalar") };
const { fetch } = App.make([
  hello,
  ...Openapi.docs([hello], { title: "Hello" }),
  ...Openapi.docs([hello], { ...paths, script: "scalar" }),
]);
const told = {};
for (const path of ["/openapi.json", "/docs", "/docs/reader.js", "/docs/start.js", "/scalar/reader.js"]) {
  const headers = { "accept-encoding": "gzip" };
  const answered = await fetch(new Request(`http://localhost${path}`, { headers }));
  const bytes = (await answered.arrayBuffer()).byteLength;
  told[path] = [answered.status, answered.headers.get("content-encoding"), bytes > 10_000];
}
console.log(JSON.stringify(told));
