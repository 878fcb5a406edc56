/** The tables of the guides have every option that there is. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");

/** The members of an interface of a file. */
function membersOf(file: string, name: string): readonly string[] {
  const [, body = ""] = new RegExp(`^export interface ${name}\\b[^{]*\\{\\n(.*?)^\\}`, "ms").exec(read(file)) ?? [];
  return [...body.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, member = ""]) => member);
}

/** What the first cells of a page's tables name. */
function namedIn(page: string): readonly string[] {
  const cells = [...read(page).matchAll(/^\| ([^|]*) \|/gm)].map(([, cell = ""]) => cell);
  return cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name));
}

it.each([
  ["AppOptions", "src/app/app.ts", "docs/guides/app-options.md", 20],
  ["ListenOptions", "src/server/options.ts", "docs/guides/node.md", 10],
  ["DocumentOptions", "src/openapi/document.ts", "docs/guides/openapi.md", 4],
  ["ApiInfo", "src/openapi/info.ts", "docs/guides/openapi.md", 5],
  ["DocsOptions", "src/openapi/docs.ts", "docs/guides/openapi.md", 2],
  ["McpOptions", "adapters/mcp/mcp.ts", "docs/guides/mcp.md", 10],
  ["PoolOptions", "adapters/postgres/settings.ts", "docs/guides/postgres-pool.md", 7],
  ["TransactionOptions", "src/database/transaction.ts", "docs/guides/postgres.md", 2],
  ["SessionsOptions", "src/security/sessions.ts", "docs/guides/sessions.md", 4],
  ["ApiKeysOptions", "src/security/api-keys.ts", "docs/guides/api-keys.md", 2],
  ["CookieOptions", "src/codecs/cookie.ts", "docs/guides/cookies.md", 3],
  ["RateOptions", "src/security/rate.ts", "docs/guides/rate-limits.md", 4],
  ["CorsOptions", "src/security/cors.ts", "docs/guides/cors.md", 5],
  ["IdempotencyOptions", "src/security/idempotency.ts", "docs/guides/idempotency.md", 7],
  ["JwtOptions", "adapters/jwt/bearer.ts", "docs/guides/jwt.md", 10],
  ["JwksOptions", "adapters/jwt/jwks.ts", "docs/guides/jwt.md", 5],
  ["OidcIssuerOptions", "adapters/oidc/issuer.ts", "docs/guides/openid-connect.md", 7],
  ["OidcRoutesOptions", "adapters/oidc/options.ts", "docs/guides/openid-connect.md", 15],
  ["HttpClientOptions", "src/client/http-client.ts", "docs/guides/http-client.md", 3],
  ["ClientOptions", "src/client/calls.ts", "docs/guides/typed-client.md", 3],
  ["SocketOptions", "src/sockets/socket.ts", "docs/guides/websockets.md", 3],
  ["LogOptions", "src/logging/writer.ts", "docs/guides/logging.md", 3],
  ["MetricsOptions", "src/metrics.ts", "docs/guides/metrics.md", 3],
  ["CompressOptions", "adapters/compress/compress.ts", "docs/guides/compression.md", 3],
  ["DecompressOptions", "adapters/compress/decompress.ts", "docs/guides/compression.md", 1],
  ["DirectoryOptions", "adapters/files/routes.ts", "docs/guides/static-files.md", 5],
  ["SentFileOptions", "adapters/files/version.ts", "docs/guides/static-files.md", 2],
  ["FileAnswerOptions", "adapters/files/version.ts", "docs/guides/static-files.md", 0],
  ["WorkerOptions", "adapters/workers/index.ts", "docs/guides/workers.md", 0],
] as const)("each of %s is in a table of the guide", (name, file, page, least) => {
  const members = membersOf(file, name);
  expect(members.length).toBeGreaterThan(least);
  expect(members.filter((member) => !namedIn(page).includes(member))).toEqual([]);
});
