/** A Redis Cluster of the test file's own: three primaries with a replica each. */
import { createClient } from "redis";
import { freePort } from "../../examples/orders/postgres-server.ts";
import { eventually } from "./eventually.ts";
import { RedisServer } from "./redis.ts";

const slots = 16_384;

/** A node with a client for its administration. */
export interface ClusterNode {
  readonly server: RedisServer;
  readonly id: string;
  send(...command: readonly string[]): Promise<unknown>;
}

export class RedisCluster {
  readonly primaries: readonly ClusterNode[];
  readonly replicas: readonly ClusterNode[];

  private constructor(primaries: readonly ClusterNode[], replicas: readonly ClusterNode[]) {
    this.primaries = primaries;
    this.replicas = replicas;
  }

  /** Six servers, as `redis-cli --cluster create --cluster-replicas 1` joins them; gone with the test file. */
  static async start(): Promise<RedisCluster> {
    const nodes = await Promise.all(Array.from({ length: 6 }, startNode));
    const [first] = nodes as [Started];
    const primaries = nodes.slice(0, 3);
    const replicas = nodes.slice(3);
    for (const [i, { node }] of primaries.entries()) {
      const from = Math.floor((slots * i) / 3);
      await node.send("CLUSTER", "ADDSLOTSRANGE", String(from), String(Math.floor((slots * (i + 1)) / 3) - 1));
      await node.send("CLUSTER", "SET-CONFIG-EPOCH", String(i + 1));
    }
    for (const { node } of nodes.slice(1)) {
      await node.send("CLUSTER", "MEET", "127.0.0.1", String(first.node.server.port), String(first.busPort));
    }
    for (const [i, { node }] of replicas.entries()) {
      const id = primaries[i]?.node.id ?? "";
      await eventually(async () => void (await node.send("CLUSTER", "REPLICATE", id)));
    }
    for (const { node } of nodes) {
      await eventually(async () => {
        const info = String(await node.send("CLUSTER", "INFO"));
        const all = String(await node.send("CLUSTER", "NODES"));
        const isWhole = info.includes("cluster_state:ok") && info.includes("cluster_known_nodes:6");
        const replicated = all.split("\n").filter((line) => line.includes("slave")).length;
        if (!isWhole || replicated !== 3) throw new Error(`the cluster is not whole: ${info}`);
      });
    }
    for (const { node } of replicas) {
      await eventually(async () => {
        const info = String(await node.send("INFO", "replication"));
        if (!info.includes("master_link_status:up")) throw new Error("a replica is not linked");
      });
    }
    return new RedisCluster(
      primaries.map(({ node }) => node),
      replicas.map(({ node }) => node),
    );
  }

  /** Commands of one node. */
  get nodes(): readonly ClusterNode[] {
    return [...this.primaries, ...this.replicas];
  }
}

interface Started {
  readonly node: ClusterNode;
  readonly busPort: number;
}

async function startNode(): Promise<Started> {
  const busPort = await freePort();
  const server = await RedisServer.start({
    more: ["--cluster-enabled", "yes", "--cluster-port", String(busPort), "--cluster-node-timeout", "1000"],
  });
  const send = async (...command: readonly string[]): Promise<unknown> => {
    const client = createClient({ url: server.url });
    client.on("error", () => {});
    try {
      await client.connect();
      return await client.sendCommand([...command]);
    } finally {
      client.destroy();
    }
  };
  const id = String(await send("CLUSTER", "MYID"));
  return { node: { server, id, send }, busPort };
}
