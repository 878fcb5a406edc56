import {
  Meta,
  Path,
  Rate,
  Refusal,
  Returns,
  Shape,
  client,
  del,
  get,
  json,
  param,
  post,
  put,
  refuse,
} from "usher-http";
import { DatabaseError } from "usher-http/postgres";
import type { Database, Pool, Statement } from "usher-http/postgres";
import * as v from "valibot";
import { caller, hashOf, isRight, secret, signedOut, tokenFor, viewer } from "./accounts.ts";
import { database, text, textUpTo } from "./database.ts";
import * as statements from "./statements.ts";

const email = v.pipe(text, v.email(), v.maxLength(254));
const name = v.pipe(text, v.minLength(1), v.maxLength(100));
const password = v.pipe(v.string(), v.minLength(8));

const NewUser = v.object({ user: v.object({ email, username: name, password }) });
const Login = v.object({ user: v.object({ email: text, password: v.string() }) });
const UserChange = v.object({
  user: v.partial(v.object({ email, username: name, password, bio: textUpTo(1000), image: textUpTo(2000) })),
});

const shown = { username: v.string(), bio: v.string(), image: v.string() };
const User = Shape.named("User", v.object({ ...shown, email: v.string(), token: v.string() }));
export const Profile = Shape.named("Profile", v.object({ ...shown, following: v.boolean() }));
const UserAnswer = v.object({ user: User });
const ProfileAnswer = v.object({ profile: Profile });

const taken = Refusal.code("taken", { status: 422, doc: "Another user has that email or that username." });

/** Limits password guesses and the work of hashing, which is slow on purpose: so many a minute from one address. */
const slowly = Rate.limit(Rate.make({ limit: 20, perMs: 60_000 }), { key: client });

const register = post(
  Path.of("api", "users"),
  {
    summary: "Register",
    meta: Meta.tool({ name: "register" }),
    inputs: { slowly, body: json(NewUser), secret, database },
    returns: Returns.json(UserAnswer, { status: 201 }),
    refuses: [taken],
  },
  async ({ body: { user }, secret, database }) => {
    const hash = await hashOf(user.password);
    const added = await unlessTaken(database.exec(statements.addUser, user.email, user.username, hash));
    return added instanceof Refusal ? added : userAnswer(added, secret);
  },
);

const login = post(
  Path.of("api", "users", "login"),
  {
    summary: "Sign in",
    meta: Meta.tool({ name: "sign_in" }),
    inputs: { slowly, body: json(Login), secret, database },
    returns: Returns.json(UserAnswer),
    refuses: [signedOut],
  },
  async ({ body: { user }, secret, database }) => {
    const found = await database.exec(statements.findLogin, user.email);
    const isUser = await isRight(user.password, found?.password);
    return found !== undefined && isUser
      ? userAnswer(found, secret)
      : refuse(signedOut, "The email or the password is wrong.");
  },
);

const me = get(
  Path.of("api", "user"),
  {
    summary: "Who asks",
    meta: Meta.tool({ name: "who_am_i" }),
    inputs: { caller, secret },
    returns: Returns.json(UserAnswer),
  },
  ({ caller, secret }) => userAnswer(caller, secret),
);

const changeMe = put(
  Path.of("api", "user"),
  {
    summary: "Change who asks",
    meta: Meta.tool({ name: "change_me" }),
    inputs: { caller, body: json(UserChange), secret, database },
    returns: Returns.json(UserAnswer),
    refuses: [taken],
  },
  async ({ caller, body: { user }, secret, database }) => {
    const hash = user.password === undefined ? undefined : await hashOf(user.password);
    const { email, username, bio, image } = user;
    const changed = await unlessTaken(
      database.exec(statements.changeUser, caller.id, email, username, hash, bio, image),
    );
    return changed instanceof Refusal ? changed : userAnswer(changed, secret);
  },
);

const username = Path.param("username", text);
const following = Path.of("api", "profiles", username, "follow");
const profileRoute = { returns: Returns.json(ProfileAnswer), refuses: [Refusal.notFound] } as const;

const findProfile = get(
  Path.of("api", "profiles", username),
  {
    summary: "A profile",
    meta: Meta.tool({ name: "profile" }),
    inputs: { viewer, username: param(username), database },
    ...profileRoute,
  },
  ({ viewer, username, database }) => profileAnswer(database, viewer?.id, username),
);

const follow = post(
  following,
  {
    summary: "Follow a user",
    meta: Meta.tool({ name: "follow" }),
    inputs: { caller, username: param(username), database },
    ...profileRoute,
  },
  ({ caller, username, database }) => changeFollowing(database, statements.follow, caller.id, username),
);

const unfollow = del(
  following,
  {
    summary: "Follow a user no longer",
    meta: Meta.tool({ name: "unfollow" }),
    inputs: { caller, username: param(username), database },
    ...profileRoute,
  },
  ({ caller, username, database }) => changeFollowing(database, statements.unfollow, caller.id, username),
);

export const userRoutes = [register, login, me, changeMe, findProfile, follow, unfollow] as const;

/** The row, or a refusal where a unique constraint stands against it. */
async function unlessTaken<Row>(written: Promise<Row>) {
  try {
    return await written;
  } catch (error) {
    if (DatabaseError.conflict(error, "users_email_key")) return refuse(taken, "Another user has that email.");
    if (DatabaseError.conflict(error, "users_username_key")) return refuse(taken, "Another user has that username.");
    throw error;
  }
}

async function userAnswer(user: Statement.RowOf<typeof statements.addUser>, secret: Uint8Array) {
  return { user: { ...user, token: await tokenFor(user.id, secret) } };
}

async function profileAnswer(db: Database | Pool, viewer: number | undefined, username: string) {
  const profile = await db.exec(statements.findProfile, viewer, username);
  return profile === undefined ? refuse(Refusal.notFound) : { profile };
}

function changeFollowing(database: Pool, change: typeof statements.follow, caller: number, username: string) {
  return database.transaction(async (db) => {
    await db.exec(change, caller, username);
    return profileAnswer(db, caller, username);
  });
}
