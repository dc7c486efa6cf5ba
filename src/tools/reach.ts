/** How far what is written down of a tool may reach. An author's code reaches everything: there, all of it is absent. */
export interface Reach {
  /** Whether only hosts on the public internet are asked, even where an option names another. Default false. */
  readonly publicOnly?: boolean;
  /** To whom the Google credential of the machine may be shown. Default: anywhere. */
  readonly machineCredential?: 'anywhere' | 'google' | 'nowhere';
}

/** Whether an address is one of Google's APIs, encrypted. */
export const isGoogleApi = (address: string): boolean => {
  const url = URL.parse(address);
  return url?.protocol === 'https:' && (url.hostname === 'googleapis.com' || url.hostname.endsWith('.googleapis.com'));
};

export const reachOf = ({ publicOnly = false, machineCredential = 'anywhere' }: Reach): Reach => ({
  publicOnly,
  machineCredential,
});
