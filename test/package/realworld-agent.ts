/** An agent that calls every operation of the RealWorld example by the name of its tool. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect } from "vitest";

async function agentOf(url: string, headers: { readonly [name: string]: string }): Promise<Client> {
  const agent = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } });
  await agent.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }));
  return agent;
}

const open = ["article", "articles", "comments", "profile", "register", "sign_in", "tags"];

export async function callEveryOperation(url: string): Promise<void> {
  const called = new Set<string>();
  const call = async (agent: Client, name: string, given: object = {}) => {
    called.add(name);
    const { isError, structuredContent } = await agent.callTool({ name, arguments: { ...given } });
    expect([name, isError]).toEqual([name, undefined]);
    return structuredContent as { readonly [member: string]: { readonly [member: string]: unknown } };
  };
  const stranger = await agentOf(url, {});
  const user = { email: "tess@mail.example", username: "tess", password: "correct horse" };
  await call(stranger, "register", { user });
  const { token } = (await call(stranger, "sign_in", { user }))["user"] ?? {};
  const tess = await agentOf(url, { authorization: `Token ${token}` });
  const article = { title: "By a tool", description: "d", body: "b", tagList: ["tools"] };
  const { slug } = (await call(tess, "write_article", { article }))["article"] ?? {};
  const { id } = (await call(tess, "add_comment", { slug, comment: { body: "So it is." } }))["comment"] ?? {};
  for (const name of ["who_am_i", "feed", "tags"]) await call(tess, name);
  for (const name of ["profile", "follow", "unfollow"]) await call(tess, name, { username: "ann" });
  for (const name of ["article", "add_favorite", "remove_favorite", "comments"]) await call(tess, name, { slug });
  expect(await call(tess, "change_me", { user: { bio: "Is one." } })).toMatchObject({ user: { bio: "Is one." } });
  await call(tess, "change_article", { slug, article: { body: "changed" } });
  expect(await call(stranger, "articles", { tag: "tools" })).toMatchObject({ articles: [{ slug }] });
  await call(tess, "remove_comment", { slug, id });
  await call(tess, "remove_article", { slug });
  const listed = async (agent: Client) => (await agent.listTools()).tools.map(({ name }) => name).toSorted();
  expect(await listed(tess)).toEqual([...called].toSorted());
  expect(await listed(stranger)).toEqual(open);
  const { isError, content } = await stranger.callTool({ name: "add_favorite", arguments: { slug } });
  expect([isError, content]).toEqual([true, [{ type: "text", text: '{"errors":{"body":["Please sign in."]}}' }]]);
  await Promise.all([stranger.close(), tess.close()]);
}
