import { GeminiDouble } from '../../support/gemini-double.ts';
import { HttpDouble } from '../../support/http-double.ts';
import { type LiveBed, openLiveBed } from './bed.ts';

/** A server whose apps ask models of several providers, all of them played by doubles. */
export interface ProviderBed extends LiveBed {
  /** Claude and OpenAI, which differ by path. */
  readonly double: HttpDouble<Record<string, unknown>>;
  readonly gemini: GeminiDouble;
}

/** One app for each model, by its name. */
export async function openProviderBed(models: Readonly<Record<string, string>>): Promise<ProviderBed> {
  const double = await HttpDouble.start<Record<string, unknown>>();
  const gemini = await GeminiDouble.start();
  const appOf = (name: string, model: string) => ({ 'root_agent.yaml': { name, model, instruction: 'Be brief.' } });
  const apps = Object.fromEntries(Object.entries(models).map(([name, model]) => [name, appOf(name, model)]));
  const bed = await openLiveBed(apps, {
    ANTHROPIC_API_KEY: 'test-key-1',
    ANTHROPIC_BASE_URL: double.url,
    OPENAI_API_KEY: 'test-key-1',
    OPENAI_BASE_URL: `${double.url}/v1`,
    GOOGLE_API_KEY: 'test-key-1',
    GOOGLE_GEMINI_BASE_URL: gemini.url,
  });
  const close = async (): Promise<void> => {
    await bed.close();
    await double.close();
    await gemini.close();
  };
  return { ...bed, double, gemini, close };
}
