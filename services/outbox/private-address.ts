import { BlockList, isIP } from 'node:net';

const PRIVATE = new BlockList();
/** Networks that are not globally reachable by IANA's registries of special-purpose addresses, and multicast. */
const IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];
/** Addresses of services inside of a cloud that are not in these registries: Azure's virtual machines get secrets there. */
const CLOUD = ['168.63.129.16/32'];
const GLOBAL_IPV6 = new BlockList();
GLOBAL_IPV6.addSubnet('2000::', 3, 'ipv6');
/** Networks within the global IPv6 addresses: Teredo, ORCHID, documentation, 6to4, SRv6. */
const IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];
for (const network of [...IPV4, ...CLOUD, ...IPV6]) {
  const [address = '', bits] = network.split('/');
  PRIVATE.addSubnet(address, Number(bits), isIP(address) === 4 ? 'ipv4' : 'ipv6');
}

/** Returns whether an address is not one of the public internet. An IPv6 address that embeds an IPv4 one is never public. */
export function isPrivateAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return PRIVATE.check(address, 'ipv4');
  return family === 0 || !GLOBAL_IPV6.check(address, 'ipv6') || PRIVATE.check(address, 'ipv6');
}
