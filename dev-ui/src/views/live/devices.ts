import { useEffect, useState } from 'react';

/** Microphones and cameras, as far as the browser names them; asked again when one is plugged in. */
export function useDevices(isAllowed: boolean): readonly MediaDeviceInfo[] {
  const [devices, setDevices] = useState<readonly MediaDeviceInfo[]>([]);
  useEffect(() => {
    if (!('mediaDevices' in navigator)) return undefined;
    const look = (): void => {
      void navigator.mediaDevices
        .enumerateDevices()
        .then((found) => setDevices(found.filter(({ deviceId }) => deviceId !== '')))
        .catch(() => setDevices([])); // not allowed: there is nothing to choose from
    };
    look();
    navigator.mediaDevices.addEventListener('devicechange', look);
    return () => navigator.mediaDevices.removeEventListener('devicechange', look);
  }, [isAllowed]);
  return devices;
}
