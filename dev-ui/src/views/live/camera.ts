/** Models accept one picture a second. */
const pictureMs = 1_000;
const mostWidth = 768;
const quality = 0.7;

/** Shows the camera in a video element, and delivers one picture a second as base64 JPEG. */
export class Camera {
  readonly stream: MediaStream;
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #video: HTMLVideoElement;

  private constructor(stream: MediaStream, onPicture: (base64: string) => void) {
    this.stream = stream;
    this.#video = document.createElement('video');
    this.#video.muted = true;
    this.#video.srcObject = stream;
    void this.#video.play().catch(() => {}); // a stream that ended meanwhile has no picture to show
    const canvas = document.createElement('canvas');
    this.#timer = setInterval(() => {
      const { videoWidth, videoHeight } = this.#video;
      if (videoWidth === 0) return;
      const scale = Math.min(1, mostWidth / videoWidth);
      canvas.width = Math.round(videoWidth * scale);
      canvas.height = Math.round(videoHeight * scale);
      canvas.getContext('2d')?.drawImage(this.#video, 0, 0, canvas.width, canvas.height);
      onPicture(canvas.toDataURL('image/jpeg', quality).split(',')[1] ?? '');
    }, pictureMs);
  }

  /** Throws what `getUserMedia` throws. */
  static async open(deviceId: string | undefined, onPicture: (base64: string) => void): Promise<Camera> {
    const video = deviceId === undefined ? true : { deviceId: { exact: deviceId } };
    return new Camera(await navigator.mediaDevices.getUserMedia({ video }), onPicture);
  }

  close(): void {
    clearInterval(this.#timer);
    for (const track of this.stream.getTracks()) track.stop();
    this.#video.srcObject = null;
  }
}
