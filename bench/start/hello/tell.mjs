/** Tells the parent where this process listens and, when it is asked, what the process has used so far. @param {number} port */
export function tell(port) {
  say({ port });
}

/** The same for a program without a listener: its first answer. @param {string} answer */
export function tellAnswer(answer) {
  say({ answer });
}

function say(first) {
  process.on("message", (message) => {
    if (message === "stop") process.exit(0);
    const { user, system } = process.cpuUsage();
    process.send?.({ cpu: (user + system) / 1000, rss: process.memoryUsage.rss() / 1e6 });
  });
  process.send?.(first);
}
