/** What waits on the streams of one connection of HTTP/2: past its share others are held, and begin in order once there is room. */
import { AsyncLocalStorage } from "node:async_hooks";
import { expect, it } from "vitest";
import { ConnectionShare } from "../../../adapters/node/http2/share.ts";

const most = 100;
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** A share that is over by one byte, and holds what notes that it has begun. */
function over() {
  const share = new ConnectionShare(most);
  share.add(most + 1);
  const begun: string[] = [];
  const hold = (name: string, bytes = 0): (() => void) =>
    share.hold(() => {
      begun.push(name);
      share.add(bytes);
    });
  return { share, begun, hold };
}

it("a connection is over its share past it, and not at it", () => {
  const share = new ConnectionShare(most);
  share.add(most);
  expect(share.isOver).toBe(false);
  share.add(1);
  expect(share.isOver).toBe(true);
});

it("what is held begins in order, in a later turn, once there is room", async () => {
  const { share, begun, hold } = over();
  for (const name of ["a", "b", "c"]) hold(name);
  expect([share.held, begun]).toEqual([3, []]);
  share.add(-1);
  share.add(-1);
  expect(begun).toEqual([]);
  await turn();
  expect([share.held, begun]).toEqual([0, ["a", "b", "c"]]);
  share.add(-1);
  await turn();
  expect(begun).toHaveLength(3);
});

it("what is given up does not begin", async () => {
  const { share, begun, hold } = over();
  const [giveUp] = [hold("a"), hold("b")];
  giveUp();
  giveUp();
  expect(share.held).toBe(1);
  share.add(-1);
  await turn();
  expect([share.held, begun]).toEqual([0, ["b"]]);
});

it("no more begins than there is room for, and the rest once there is again", async () => {
  const { share, begun, hold } = over();
  for (const name of ["a", "b", "c"]) hold(name, 1);
  share.add(-1);
  await turn();
  expect([share.isOver, begun]).toEqual([true, ["a"]]);
  share.add(-2);
  await turn();
  expect(begun).toEqual(["a", "b", "c"]);
});

it("nothing begins where the room is gone before its turn", async () => {
  const { share, begun, hold } = over();
  hold("a");
  share.add(-1);
  share.add(1);
  await turn();
  expect([share.held, begun]).toEqual([1, []]);
});

it("what begins does not run in the context of the request whose end made room", async () => {
  const storage = new AsyncLocalStorage<string>();
  const { share } = over();
  let context: string | undefined = "none was called";
  share.hold(() => (context = storage.getStore()));
  storage.run("another request", () => share.add(-1));
  await turn();
  expect(context).toBeUndefined();
});
