// Counts the rules that PDF files break, with veraPDF: arguments are a flavour (`ua1`, `1b`, `2b`) and paths.
// Prints `COUNT PATH: RULES` for each file.

import java.io.File;
import java.util.TreeSet;
import java.util.logging.LogManager;
import org.verapdf.gf.foundry.VeraGreenfieldFoundryProvider;
import org.verapdf.pdfa.Foundries;
import org.verapdf.pdfa.flavours.PDFAFlavour;
import org.verapdf.pdfa.results.TestAssertion;

public class Rules {
    public static void main(String[] arguments) throws Exception {
        LogManager.getLogManager().reset();
        VeraGreenfieldFoundryProvider.initialise();
        var flavour = PDFAFlavour.fromString(arguments[0]);
        for (int index = 1; index < arguments.length; index++) {
            try (var parser = Foundries.defaultInstance().createParser(new File(arguments[index]), flavour);
                    var validator = Foundries.defaultInstance().createValidator(flavour, false)) {
                var rules = new TreeSet<String>();
                for (TestAssertion assertion : validator.validate(parser).getTestAssertions()) {
                    if (assertion.getStatus() == TestAssertion.Status.FAILED) {
                        var rule = assertion.getRuleId();
                        rules.add(rule.getClause() + "-" + rule.getTestNumber());
                    }
                }
                System.out.println(rules.size() + " " + arguments[index] + ": " + String.join(", ", rules));
            }
        }
    }
}
