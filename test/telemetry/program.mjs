/** Sends spans to the collector it is told of, by the built package, on whatever runtime runs it: prints what it warned of. */
import process from "node:process";
import { App, Log, Path, Returns, Trace, get } from "usher-http";

const [endpoint, count] = process.argv.slice(2);
const lines = [];
Log.setup({ level: "warn", format: "json", out: (line) => lines.push(JSON.parse(line).message) });
const trace = Trace.otlp({ endpoint, service: "shop" });
const { fetch } = App.make([get(Path.of("hello"), { returns: Returns.text }, () => "hello")], { trace });
for (let i = 0; i < Number(count); i++) await fetch(new Request("http://localhost/hello"));
await trace.flush();
await fetch(new Request("http://localhost/hello"));
await trace.shutdown();
console.log(JSON.stringify(lines));
