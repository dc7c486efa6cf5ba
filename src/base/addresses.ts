import { BlockList, isIP } from 'node:net';

/** Addresses of this machine, of private networks, and of no host (IANA special-purpose registries). */
const special = new BlockList();
const ranges4 = [
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
  '224.0.0.0/3',
];
for (const range of ranges4) {
  const [network = '', prefix] = range.split('/');
  special.addSubnet(network, Number(prefix), 'ipv4');
}
/** Only 2000::/3 is routed. The tunnel and translation ranges in it could stand for a private IPv4 address. */
const routed = new BlockList();
routed.addSubnet('2000::', 3, 'ipv6');
special.addSubnet('2001::', 23, 'ipv6');
special.addSubnet('2001:db8::', 32, 'ipv6');
special.addSubnet('2002::', 16, 'ipv6');
special.addSubnet('3fff::', 20, 'ipv6');

/** Whether an IP address belongs to the public internet. False for a text that is not an address. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !special.check(address, 'ipv4');
  return family === 6 && routed.check(address, 'ipv6') && !special.check(address, 'ipv6');
}

/** Whether only programs of this machine can connect to the host: `localhost`, a name below it, or a loopback address. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '').toLowerCase();
  if (name === 'localhost' || name.endsWith('.localhost') || name === '::1') return true;
  return isIP(name) === 4 && name.startsWith('127.');
}
