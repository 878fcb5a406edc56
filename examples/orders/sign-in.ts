import {
  Answer,
  Codec,
  Cookie,
  Dep,
  Form,
  Meta,
  Path,
  Rate,
  Returns,
  client,
  get,
  html,
  post,
  setCookie,
} from "usher-http";
import type { Html } from "usher-http";
import { isRight, sessions } from "./clerks.ts";
import { keys } from "./keys.ts";

const signInPath = Path.of("sign-in");

/** The last name that signed in here, to fill in the form. */
const lastClerk = Cookie.signed(keys, "last_clerk", Codec.string, { maxAgeMs: 30 * 86_400_000 });

const clerkName = Form.required("name", Codec.string, { example: "clerk" });

/** Limits password guesses, of one address and of one clerk; a person rarely mistypes ten times a minute. */
const slowly = Rate.limit(Rate.make({ limit: 10, perMs: 60_000 }), { key: client });
const slowlyByName = Rate.limit(Rate.make({ limit: 50, perMs: 600_000 }), {
  key: Dep.map(clerkName, (name) => name.toLowerCase()),
});

const signInPage = (name: string, wrong = ""): Html =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Sign in – Orders</title>
        <link rel="stylesheet" href="/assets/page.css" />
      </head>
      <body>
        <main>
          <h1>Sign in</h1>
          <p>This is a demo. The only clerk is <code>clerk</code>, with the password <code>demo</code>.</p>
          <form action="/sign-in" method="post">
            <label for="name">Name</label>
            <input id="name" name="name" required autocomplete="username" value="${name}" />
            <label for="password">Password</label>
            <input id="password" name="password" type="password" required autocomplete="current-password" />
            <button>Sign in</button>
          </form>
          <p class="outcome wrong" role="status">${wrong}</p>
          <p class="back">
            <a href="/">Back to the orders</a>
            <a class="source" href="/source/clerks.ts">Source: clerks.ts</a>
          </p>
        </main>
      </body>
    </html> `;

const showSignIn = get(
  signInPath,
  {
    meta: Meta.empty.add(Meta.hidden, true),
    inputs: { name: Cookie.optional(lastClerk) },
    returns: Returns.html,
  },
  ({ name }) => signInPage(name ?? ""),
);

const signIn = post(
  signInPath,
  {
    summary: "Sign in",
    description:
      "Sets the session's cookie. At most ten tries a minute from one address, and fifty in ten minutes for one name.",
    tags: ["Session"],
    inputs: {
      slowly,
      slowlyByName,
      name: clerkName,
      password: Form.required("password", Codec.string, { example: "demo" }),
      setCookie,
    },
    returns: Returns.responses({
      303: "Signed in: back to the orders.",
      403: { doc: "The name or the password is wrong: the page again.", contentTypes: ["text/html"] },
    }),
  },
  async ({ name, password, setCookie }) => {
    if (!(await isRight(name, password))) {
      return Answer.html(signInPage(name, "The name or the password is wrong."), { status: 403 });
    }
    await sessions.start(setCookie, { clerk: name });
    setCookie(Cookie.make(lastClerk, name));
    return Answer.redirect("/", { status: 303 });
  },
);

const signOut = post(
  Path.of("sign-out"),
  {
    summary: "Sign out",
    description: "Ends the session and deletes its cookie.",
    tags: ["Session"],
    inputs: { session: sessions.optional, setCookie },
    returns: Returns.responses({ 303: "Signed out: back to the orders." }),
  },
  async ({ session, setCookie }) => {
    await session?.close(setCookie);
    return Answer.redirect("/", { status: 303 });
  },
);

export const signInRoutes = [showSignIn, signIn, signOut] as const;
