import { Metadata } from '@grpc/grpc-js';
import gossipGrpc from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/gossip_grpc_pb.js';
import gossipPb, {
  type ClusterInfo,
  type EndPoint as EndPointMessage,
} from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/gossip_pb.js';
import sharedPb from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/shared_pb.js';
import type { Address, EndPoint } from './kurrentdb-address.ts';
import { reportedNode } from './kurrentdb-numbers.ts';

/** Nodes of a cluster, which name its leader. */
export type Gossip = ReturnType<typeof createGossip>;

/** Creates the questions to a cluster's nodes. One DNS name may resolve to all of them. */
export function createGossip(address: Address) {
  let members: readonly EndPoint[] = [];
  return {
    /** Returns the nodes that an answer named last; none before the first answer. */
    members: () => members,
    /** Returns these nodes and those of the address. */
    nodes(): readonly EndPoint[] {
      const isNamed = (host: EndPoint) => members.some((member) => isSameNode(member, host));
      return [...members, ...address.hosts.filter((host) => !isNamed(host))];
    },
    /** Returns the living leader that a node names. Rejects if the node does not answer in time, or names none. */
    async leaderSeenBy(node: EndPoint): Promise<EndPoint> {
      const found = (await read(node, address)).getMembersList();
      members = found
        .map((member) => endPointOf(member.getHttpEndPoint()))
        .filter((each) => each !== undefined);
      const { LEADER } = gossipPb.MemberInfo.VNodeState;
      const leader = found.find((member) => member.getIsAlive() && member.getState() === LEADER);
      const endPoint = endPointOf(leader?.getHttpEndPoint());
      if (endPoint === undefined) throw new Error('the node names no leader');
      return endPoint;
    },
  };
}

function read({ address: host, port }: EndPoint, address: Address): Promise<ClusterInfo> {
  const client = new gossipGrpc.GossipClient(`${host}:${port}`, address.channelCredentials);
  const deadline = Date.now() + address.gossipTimeoutSeconds * 1_000;
  return new Promise((resolve, reject) => {
    client.read(new sharedPb.Empty(), new Metadata(), { deadline }, (error, info) => {
      client.close();
      if (error === null) resolve(info);
      else reject(error);
    });
  });
}

function endPointOf(message: EndPointMessage | undefined): EndPoint | undefined {
  return reportedNode(message?.getAddress(), message?.getPort());
}

/** Returns whether two addresses are equal. */
export function isSameNode(one: EndPoint, other: EndPoint | undefined): boolean {
  return one.address === other?.address && one.port === other.port;
}
