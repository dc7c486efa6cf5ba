import { BlockList, isIP } from 'node:net';
import { AppError } from '../base/errors.ts';
import { nameFault } from '../schemas/names.ts';
import { type Authenticator, badCredential, singleHeader } from './authenticator.ts';
import { type RoleMapping, rolesFor } from './role-mapping.ts';

export interface TrustedProxyOptions extends RoleMapping {
  /** Addresses and networks (`10.0.0.0/8`) of the proxies. */
  readonly addresses: readonly string[];
  /** The header that names the user. */
  readonly userHeader: string;
  /** The header that lists the user's roles, separated by commas. */
  readonly rolesHeader?: string | undefined;
}

/**
 * Takes the user from a header that a proxy in front of the server sets. Only the address of the socket identifies the
 * proxy, and the proxy must remove these headers from the requests of its clients. Throws ConfigurationException for an address that is none.
 */
export function trustedProxy(options: TrustedProxyOptions): Authenticator {
  const proxies = new BlockList();
  for (const address of options.addresses) addNetwork(proxies, address);
  const userHeader = options.userHeader.toLowerCase();
  const rolesHeader = options.rolesHeader?.toLowerCase();
  return {
    async authenticate({ headers, remoteAddress = '' }) {
      const family = isIP(remoteAddress);
      if (family === 0 || !proxies.check(remoteAddress, family === 6 ? 'ipv6' : 'ipv4')) return undefined;
      const userId = utf8(singleHeader(headers, userHeader));
      if (userId === undefined) return undefined;
      const fault = nameFault(userId);
      if (fault !== undefined) throw badCredential(`The user that the proxy names ${fault}`);
      const names = rolesHeader === undefined ? '' : (utf8(singleHeader(headers, rolesHeader)) ?? '');
      const roles = rolesFor(
        names.split(',').map((name) => name.trim()),
        options,
      );
      return { id: `proxy:${userId}`, userId, actsForUsers: false, roles };
    },
  };
}

/** Why a text is neither an IP address nor a network; `undefined` when it is one. */
export function networkFault(text: string): string | undefined {
  const [address = '', prefix, ...rest] = text.split('/');
  const family = isIP(address);
  const isPrefix = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 6 ? 128 : 32));
  return family !== 0 && isPrefix && rest.length === 0
    ? undefined
    : 'must be an IP address or a network such as 10.0.0.0/8';
}

function addNetwork(list: BlockList, text: string): void {
  const fault = networkFault(text);
  if (fault !== undefined) throw new AppError('ConfigurationException', `"${text}" ${fault}`);
  const [address = '', prefix] = text.split('/');
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  if (prefix === undefined) list.addAddress(address, family);
  else list.addSubnet(address, Number(prefix), family);
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Node reads headers as Latin-1; proxies write names in UTF-8. Throws `unauthenticated` for bytes that are neither ASCII nor UTF-8. */
function utf8(value: string | undefined): string | undefined {
  const text = value?.trim() ?? '';
  if (text === '') return undefined;
  try {
    return decoder.decode(Buffer.from(text, 'latin1'));
  } catch (error) {
    throw badCredential(error instanceof Error ? error : 'A header is not UTF-8');
  }
}
