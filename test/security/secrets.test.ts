/** No secret is in the printed form of the framework's objects, in its errors, or in its log lines. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { inspect, promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { Keys, Webhook } from "usher-http";
import { Jwt } from "usher-http/jwt";
import { Oidc } from "usher-http/oidc";
import * as v from "valibot";
import { runtimes } from "../support/runtimes.ts";
import { rows } from "../support/wide.ts";

const program = join(import.meta.dirname, "secrets-program.mjs");
const deno = ["run", "--no-config", "--node-modules-dir=manual", "--allow-all"];
const secrets = ["s3cr3t-never-printed-0123456789abcdef", "0ld3r-never-printed-0123456789abcdef0", "sh0rt-s3cret"];

/** The forms in which bytes are printed. */
function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const some = bytes.subarray(0, 12);
  return [
    secret,
    bytes.toString("base64").slice(0, 40),
    bytes.toString("base64url").slice(0, 40),
    bytes.toString("hex"),
    [...some].join(","),
    [...some].join(", "),
    [...some].map((byte) => byte.toString(16)).join(" "),
    [...some].map((byte, i) => `"${i}":${byte}`).join(","),
  ];
}

const formsIn = (text: string, secret: string) => formsOf(secret).filter((form) => text.includes(form));

const long = "a secret of thirty-two bytes, 1!";
const url = "https://a.example";

/** Each option that takes a secret, and the place that its error message names. */
const options: readonly [name: string, make: (secrets: readonly string[]) => unknown, least: number, at: string][] = [
  ["Keys.ring", ([newest = "", ...older]) => Keys.ring(newest, ...older), 32, "secrets"],
  ["Jwt.secrets", (secrets) => Jwt.secrets(secrets), 32, "secrets"],
  ["Webhook.verify", (secrets) => Webhook.verify(v.object({}), { scheme: "github", secrets }), 16, "secrets"],
  ["Webhook.verify", (secrets) => Webhook.verify(v.object({}), { scheme: "stripe", secrets }), 16, "secrets"],
  ["Webhook.sign", (secrets) => Webhook.sign("", { scheme: "github", secrets }), 16, "secrets"],
  ["Oidc.issuer", (clientSecret) => Oidc.issuer(url, { clientId: "a", clientSecret }), 16, "clientSecret"],
];

describe.each(options)("the secrets of %s", (name, make, least, at) => {
  it("are a list, the newest first", async () => {
    await expect(Promise.all([make([long, `${long}, older`]), make([long])])).resolves.toHaveLength(2);
  });

  it.each([
    [0, [""]],
    [0, ["x".repeat(least - 1), long]],
    [1, [long, "x".repeat(least - 1)]],
    [1, [long, ""]],
  ])("are refused with their place %i", async (place, secrets) => {
    await expect(async () => make(secrets)).rejects.toThrow(new RegExp(`^${name}: ${at}\\[${place}\\] `));
  });

  it("are refused without being quoted", async () => {
    await expect(async () => make([long, "hunter2"])).rejects.not.toThrow(/hunter2|thirty/);
  });
});

describe("a secret", () => {
  it.each([
    (bytes: Buffer) => String(bytes),
    (bytes: Buffer) => inspect(bytes),
    (bytes: Buffer) => inspect(new Uint8Array(bytes)),
    (bytes: Buffer) => inspect({ deep: [bytes.buffer] }, { depth: null }),
    (bytes: Buffer) => JSON.stringify(bytes),
    (bytes: Buffer) => JSON.stringify(new Uint8Array(bytes)),
    (bytes: Buffer) => bytes.toString("base64"),
  ])("would be found in the text %#", (print) => {
    const [secret = ""] = secrets;
    const whole = Buffer.from(new Uint8Array(Buffer.from(secret)).buffer);
    expect(formsIn(print(whole).replaceAll(/\s+/g, " "), secret)).not.toEqual([]);
  });

  it.each(
    rows<readonly [name: string, binary: string, flags: readonly string[]]>(
      [
        ["Node", process.execPath, []],
        ["Bun", runtimes.bun(), []],
        ["Deno", runtimes.deno(), deno],
      ],
      [["the oldest Node", runtimes["node-oldest"](), []]],
    ),
  )("is not in the output of %s", async (_name, binary, flags) => {
    const { stdout, stderr } = await promisify(execFile)(binary, [...flags, program], {
      cwd: import.meta.dirname,
      maxBuffer: 200_000_000,
    });
    const printed = (stdout + stderr).replaceAll(/\u001b\[\d+m/g, "");
    // A list of bytes is printed in columns.
    const inOneLine = printed.replaceAll(/\s+/g, " ");
    expect(printed).toContain("signed_out");
    const key = /^key: (\S+)$/m.exec(printed)?.[1] ?? "";
    expect(key).toMatch(/^shop_live_/);
    // The last line is written by the program itself.
    expect(printed.split(key)).toHaveLength(2);
    const found = secrets.flatMap((secret) => formsIn(inOneLine, secret));
    expect(found).toEqual([]);
    expect(printed.match(/^refused: .*$/gm)).toEqual([
      "refused: Keys.ring: secrets[0] is shorter than 32 bytes",
      "refused: Keys.ring: secrets[1] is shorter than 32 bytes",
      expect.stringMatching(/^refused: Webhook.verify: secrets\[1\] must be /),
      expect.stringMatching(/^refused: Webhook.verify: secrets\[0\] must be /),
      "refused: Jwt.secrets: secrets[1] is shorter than 32 bytes",
      "refused: Oidc.issuer: clientSecret[1] is shorter than 16 bytes",
      "refused: Oidc.issuer: clientSecret is shorter than 16 bytes",
      "refused: Jwt.bearer: keys: secrets[0] is shorter than the 64 bytes that HS512 needs",
      "refused: Jwt.bearer: keys is a string, and not made by Jwt.jwks, Jwt.publicKeys or Jwt.secrets",
    ]);
  });
});
