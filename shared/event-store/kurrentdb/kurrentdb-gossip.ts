import { Metadata } from '@grpc/grpc-js';
import gossipGrpc from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/gossip_grpc_pb.js';
import gossipPb, {
  type ClusterInfo,
} from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/gossip_pb.js';
import sharedPb from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/shared_pb.js';
import type { Address, EndPoint } from './kurrentdb-address.ts';

/** Returns the living leader that a node names. Rejects if the node does not answer in time, or names none. */
export function leaderSeenBy({ address: host, port }: EndPoint, address: Address): Promise<EndPoint> {
  const client = new gossipGrpc.GossipClient(`${host}:${port}`, address.channelCredentials);
  const { promise, resolve, reject } = Promise.withResolvers<ClusterInfo>();
  const deadline = Date.now() + address.gossipTimeoutSeconds * 1_000;
  client.read(new sharedPb.Empty(), new Metadata(), { deadline }, (error, info) => {
    client.close();
    if (error === null) resolve(info);
    else reject(error);
  });
  return promise.then((info) => {
    const { LEADER } = gossipPb.MemberInfo.VNodeState;
    const members = info.getMembersList();
    const leader = members.find((member) => member.getIsAlive() && member.getState() === LEADER);
    const endPoint = leader?.getHttpEndPoint();
    if (endPoint === undefined) throw new Error('the node names no leader');
    return { address: endPoint.getAddress(), port: endPoint.getPort() };
  });
}
