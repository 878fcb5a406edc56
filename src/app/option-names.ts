/** The names of options: of an app, then of a listener: `serve` hands its own on. */
export const optionNames: string =
  "resources notFound trailingSlash checkOrigin trustedOrigins maxBody decompress maxProblems maxAfter background deadline deadlineHeader overload bodyBudget bodyShare trustedProxies trace now cors secureHeaders middleware codes onError refusalFormat languages " +
  "port host socket reusePort tls http2 maxHeaderBytes headTimeoutMs idleTimeoutMs bodyTimeoutMs minBodyRate sendTimeoutMs minSendRate sendBudget sendShare maxConnections drainMs signals attach behindCloudflare";
