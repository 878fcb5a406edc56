/** A page names only services that a test runs against, or that were not tried by its own words. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const textOf = (file: string): string => readFileSync(join(root, file), "utf8");

/** Issuers, senders of webhooks, poolers, stores, proxies, platforms: what a page could name. */
const services =
  /\b(?:Adyen|Airtable|Akamai|ALB|API Gateway|Apple|Aurora|Auth0|Authentik|Authelia|AWS|Azure|Bitbucket|Braintree|Bugsnag|Caddy|Clerk|Cloud Run|Cloudflare|CloudFront|Cloudinary|Cognito|CockroachDB|Datadog|Descope|DigitalOcean|Discord|Docker|Dragonfly|DSQL|DynamoDB|ElastiCache|Elastic|Entra|Envoy|Facebook|Fastly|Firebase|Fly\.io|FusionAuth|GitHub|GitLab|Google|Grafana|HAProxy|Heroku|Honeycomb|HubSpot|Intercom|Jaeger|Kafka|KeyDB|Keycloak|Kinde|Kubernetes|Lambda|Linear|LinkedIn|Logto|Loki|Mailchimp|Mailgun|MemoryDB|MinIO|Mollie|Neon|Netlify|New Relic|nginx|ngrok|Notion|Odyssey|Okta|OneLogin|OpenAI|Ory|Paddle|PagerDuty|PayPal|PgBouncer|PgCat|PingIdentity|PlanetScale|Plaid|Postmark|PropelAuth|Pusher|Railway|RDS|Render|Resend|Rollbar|Salesforce|Segment|SendGrid|Sentry|Shopify|Slack|Spotify|Square|Stripe|Stytch|Supabase|Supavisor|Svix|Telegram|Tempo|Traefik|Twilio|Twitch|Typeform|Upstash|Valkey|Vercel|Vault|WhatsApp|WorkOS|Zapier|Zendesk|Zitadel|Zoom)\b/g;

const jwt = "test/adapters/jwt/providers.test.ts";
const signIn = "test/adapters/oidc/providers.test.ts";
const senders = "test/security/webhook-senders.test.ts";
const lambda = "test/guides/lambda.test.ts";
const workers = "test/support/miniflare.ts";

/** The pages that may name a service, the test of each, and a text of that test. Where no page is given, every page may. */
const tried: readonly (readonly [service: string, page: RegExp, test: string, text: string | RegExp])[] = [
  ["Auth0", /jwt/, jwt, 'name: "Auth0'],
  ["Okta", /jwt/, jwt, 'name: "Okta'],
  ["Entra", /jwt|bearer/, jwt, 'name: "Microsoft Entra ID'],
  ["Cognito", /jwt/, jwt, 'name: "Amazon Cognito'],
  ["Keycloak", /jwt/, jwt, 'name: "Keycloak'],
  ["Auth0", /openid-connect/, signIn, 'name: "Auth0'],
  ["Google", /openid-connect|authentication/, signIn, 'name: "Google'],
  ["Entra", /openid-connect|authentication/, signIn, 'name: "Microsoft Entra ID'],
  ["Keycloak", /openid-connect|authentication/, signIn, 'name: "Keycloak'],
  ["Apple", /openid-connect/, signIn, 'name: "Apple'],
  ...["Svix", "Clerk", "Resend", "OpenAI", "Supabase", "GitHub", "Stripe"].map(
    (service) => [service, /webhook/, senders, `name: "${service}`] as const,
  ),
  ["PgBouncer", /./, "test/adapters/postgres/pgbouncer.test.ts", "pgbouncer"],
  ["AWS", /lambda|deployment|README|guides\/index/, lambda, "lambda"],
  ["ALB", /lambda|deployment/, lambda, "load balancer"],
  ["API Gateway", /lambda/, lambda, "rawPath"],
  ["Lambda", /lambda|deployment|README|guides\/index/, lambda, "lambda"],
  ["nginx", /./, "test/guides/deployment.test.ts", "nginx in front of a server"],
  ["Cloudflare", /./, workers, "Miniflare"],
  ["Valkey", /./, "test/support/redis.ts", "valkey-server"],
  // Its client's form of an event, by name only.
  ["OpenAI", /event/, "test/events/events.test.ts", "[DONE]"],
  ["OpenAI", /llm/, "test/guides/llm.test.ts", "OpenAI's chat completions"],
];

/** The page whose section says how a service was tried; other pages lead there. */
const told: readonly (readonly [service: string, page: string])[] = [
  ["Docker", "docs/guides/deployment.md"],
  ["Kubernetes", "docs/guides/deployment.md"],
  ["Caddy", "docs/guides/deployment.md"],
  ["Sentry", "docs/guides/error-tracking.md"],
];

const files = (folder: string, name: RegExp): readonly string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).flatMap((file) =>
    name.test(file) && !/node_modules|reference|\.vitepress/.test(file) ? [`${folder}/${file}`] : [],
  );

/** What a section says of services that no test has. */
const untried = /\b(?:not|none was|never) tried\b|\bwas tried (?:once, )?with\b|\bNo test runs\b/;

/** The parts of a page between its headings; a link's target and a program are no mention. */
function sectionsOf(file: string): readonly string[] {
  const text = textOf(file)
    .replaceAll(/\]\([^)]*\)/g, "]")
    .replaceAll(/^```[^]*?^```$/gm, "");
  return text.split(/^(?=#)/m);
}

const pages = ["README.md", ...files("docs", /\.md$/)];

const namedIn = (texts: readonly string[]): readonly string[] => [
  ...new Set(texts.flatMap((text) => text.match(services) ?? [])),
];

describe("the services that pages name", () => {
  it.each(pages)("have a test, or were not tried by the page itself: %s", (page) => {
    const wrong = sectionsOf(page).flatMap((section) => {
      if (untried.test(section)) return [];
      return namedIn([section]).filter(
        (service) =>
          !tried.some(([name, where]) => name === service && where.test(page)) &&
          !told.some(([name]) => name === service),
      );
    });
    expect(wrong).toEqual([]);
  });

  it.each(tried)("%s on %s has a test", (_service, _page, test, text) => {
    expect(existsSync(join(root, test)), test).toBe(true);
    expect(textOf(test)).toMatch(text);
  });
});

it.each(told)("%s was tried as %s says", (service, page) => {
  const sections = sectionsOf(page).filter((section) => section.includes(service) && untried.test(section));
  expect(sections).not.toEqual([]);
});

it("TSDoc names only services that have a test", () => {
  const wrong = [...files("src", /\.ts$/), ...files("adapters", /\.ts$/)].flatMap((file) => {
    const comments = textOf(file).match(/\/\*\*[^]*?\*\//g) ?? [];
    const known = new Set([...tried, ...told].map(([name]) => name));
    return namedIn(comments).flatMap((name) => (known.has(name) ? [] : [`${file}: ${name}`]));
  });
  expect(wrong).toEqual([]);
});
