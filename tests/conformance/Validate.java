// Validates PDF files with veraPDF: arguments are pairs of flavour (`ua1`, `2b`, `3b`) and path.
// Prints `PATH FLAVOUR ok`, or a line for each broken rule; exits with 1 where any is broken.

import java.io.File;
import java.util.TreeMap;
import java.util.logging.LogManager;
import org.verapdf.gf.foundry.VeraGreenfieldFoundryProvider;
import org.verapdf.pdfa.Foundries;
import org.verapdf.pdfa.flavours.PDFAFlavour;
import org.verapdf.pdfa.results.TestAssertion;

public class Validate {
    public static void main(String[] arguments) throws Exception {
        LogManager.getLogManager().reset();
        VeraGreenfieldFoundryProvider.initialise();
        boolean sound = true;
        for (int index = 0; index + 1 < arguments.length; index += 2) {
            var flavour = PDFAFlavour.fromString(arguments[index]);
            var path = arguments[index + 1];
            try (var parser = Foundries.defaultInstance().createParser(new File(path), flavour);
                    var validator =
                            Foundries.defaultInstance().createValidator(flavour, 100, false, false, false)) {
                var result = validator.validate(parser);
                if (result.isCompliant()) {
                    System.out.println(path + " " + flavour + " ok");
                    continue;
                }
                sound = false;
                var broken = new TreeMap<String, String>();
                for (TestAssertion assertion : result.getTestAssertions()) {
                    var rule = assertion.getRuleId();
                    broken.putIfAbsent(
                            rule.getClause() + "-" + rule.getTestNumber(),
                            assertion.getMessage() + " at " + assertion.getLocation().getContext());
                }
                broken.forEach((rule, message) ->
                        System.out.println(path + " " + flavour + " " + rule + ": " + message));
            }
        }
        System.exit(sound ? 0 : 1);
    }
}
