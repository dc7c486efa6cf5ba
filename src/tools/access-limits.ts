/** Limits for tools from configuration files. Tools in an author's code have no limits: there, all members are absent. */
export interface AccessLimits {
  /** Whether requests go to hosts on the public internet only, even where an option names another. Default false. */
  readonly publicOnly?: boolean;
  /** Which services may get tokens of this machine's Google credential. Default: `anywhere`. */
  readonly machineCredential?: 'anywhere' | 'google' | 'nowhere';
}

/** Whether a URL is one of Google's APIs, over https. */
export const isGoogleApi = (address: string): boolean => {
  const url = URL.parse(address);
  return url?.protocol === 'https:' && (url.hostname === 'googleapis.com' || url.hostname.endsWith('.googleapis.com'));
};

export const accessLimitsOf = ({ publicOnly = false, machineCredential = 'anywhere' }: AccessLimits): AccessLimits => ({
  publicOnly,
  machineCredential,
});
