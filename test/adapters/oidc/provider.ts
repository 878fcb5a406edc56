/** The npm package `oidc-provider`, an issuer of another project, in this process. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { vi } from "vitest";

export interface RunningProvider {
  readonly url: string;
  readonly secret: string;
  /** The number of redeemed refresh tokens. */
  readonly refreshes: () => number;
  readonly close: () => Promise<void>;
}

const es256 = { name: "ECDSA", namedCurve: "P-256" } as const;

/** An issuer for these applications, where any name and any password sign in. */
export async function startProvider(...shops: readonly string[]): Promise<RunningProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  const { port } = server.address() as AddressInfo;
  const secret = "the secret of the shop: %+";
  let refreshes = 0;
  const { privateKey } = await crypto.subtle.generateKey(es256, true, ["sign", "verify"]);
  const key = { ...(await crypto.subtle.exportKey("jwk", privateKey)), use: "sig", alg: "ES256", key_ops: undefined };
  const url = `http://localhost:${port}`;
  // It warns about settings for development, and about Node 20.
  const warnings = vi.spyOn(console, "warn").mockReturnValue();
  const { default: Provider } = await import("oidc-provider");
  const provider = new Provider(url, {
    clients: [
      {
        client_id: "shop",
        client_secret: secret,
        redirect_uris: shops.map((shop) => `${shop}/sign-in/callback`),
        post_logout_redirect_uris: shops.map((shop) => `${shop}/`),
        id_token_signed_response_alg: "ES256",
        grant_types: ["authorization_code", "refresh_token"],
      },
    ],
    jwks: { keys: [key] },
    cookies: { keys: ["a key of the tests"] },
    claims: { openid: ["sub"], email: ["email"] },
    findAccount: (_context: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, email: `${id}@example.com` }),
    }),
    issueRefreshToken: async () => true,
    rotateRefreshToken: true,
    ttl: {
      // The first one must be refreshed at once.
      AccessToken: (_context: unknown, { gty = "" }: { readonly gty?: string }) =>
        gty.includes("refresh_token") ? 3600 : 5,
      AuthorizationCode: 60,
      Grant: 3600,
      IdToken: 3600,
      Interaction: 3600,
      RefreshToken: 3600,
      Session: 3600,
    },
  });
  warnings.mockRestore();
  provider.on("grant.success", (context) => {
    if (context.oidc.params?.["grant_type"] === "refresh_token") refreshes++;
  });
  server.on("request", provider.callback());
  return {
    url,
    secret,
    refreshes: () => refreshes,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
