import type { ConversationScenario } from '../../../../src/schemas/evaluation/eval-set.ts';

interface ScenarioEditorProps {
  readonly scenario: ConversationScenario;
  readonly onChange: (scenario: ConversationScenario) => void;
}

/** A conversation that a simulated user leads. */
export function ScenarioEditor({ scenario, onChange }: ScenarioEditorProps) {
  return (
    <fieldset className="turn-card">
      <legend className="visually-hidden">Simulated user</legend>
      <label className="field">
        <span>First message of the user</span>
        <textarea
          className="input"
          value={scenario.startingPrompt}
          onChange={(event) => onChange({ ...scenario, startingPrompt: event.target.value })}
        />
      </label>
      <label className="field">
        <span>Conversation plan</span>
        <textarea
          className="input"
          rows={5}
          value={scenario.conversationPlan}
          onChange={(event) => onChange({ ...scenario, conversationPlan: event.target.value })}
        />
      </label>
    </fieldset>
  );
}
