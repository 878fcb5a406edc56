import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** The PostgreSQL server: that of `DATABASE_URL`, or a new one. */
export async function postgresServer() {
  const given = process.env.DATABASE_URL;
  if (given === undefined) return ownServer();
  return { url: given, close: () => {} };
}

// Started by the tests' TypeScript module, with a Node that runs TypeScript.
async function ownServer() {
  const node = fileURLToPath(
    new URL(`../../node_modules/node-newest-${process.platform}-${process.arch}/bin/node`, import.meta.url),
  );
  const program = fileURLToPath(new URL("../../test/support/postgres/program.ts", import.meta.url));
  const child = spawn(node, [program], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(child.stdout, "data");
  const { port } = JSON.parse(line.toString());
  return { url: `postgres://postgres@127.0.0.1:${port}/postgres`, close: () => child.kill() };
}
