/** What the API document says about the API as a whole. */
export const about = {
  title: "Orders",
  version: "1",
  description:
    "A shop that takes orders: an example of Usher, a typed HTTP framework. Place an order here with **Try it**, and watch it " +
    "appear on [the page](/). To remove an order, authorize with the bearer token `demo`, or sign in as `clerk` with the " +
    "password `demo`. The item `unicorn` is always sold out.",
  tags: [
    { name: "Orders", description: "Place, read, change and remove orders." },
    {
      name: "Live",
      description: "Follow orders as they happen (Server-Sent Events), and place them over a WebSocket.",
    },
    { name: "Session", description: "Sign in and out with a cookie. Only a clerk can remove an order." },
  ],
};
