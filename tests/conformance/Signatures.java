// Judges the signatures of PDF files with DSS of the European Commission. Arguments: a certificate that
// is trusted, then paths. Prints `PATH LEVEL INDICATION` for each signature. Nothing is fetched: what is
// not in the file is not known.

import eu.europa.esig.dss.model.FileDocument;
import eu.europa.esig.dss.spi.DSSUtils;
import eu.europa.esig.dss.spi.validation.CommonCertificateVerifier;
import eu.europa.esig.dss.spi.x509.CommonTrustedCertificateSource;
import eu.europa.esig.dss.validation.SignedDocumentValidator;
import java.io.File;

public class Signatures {
    public static void main(String[] arguments) {
        var trusted = new CommonTrustedCertificateSource();
        trusted.addCertificate(DSSUtils.loadCertificate(new File(arguments[0])));
        for (int index = 1; index < arguments.length; index++) {
            var verifier = new CommonCertificateVerifier();
            verifier.setTrustedCertSources(trusted);
            var path = arguments[index];
            var validator = SignedDocumentValidator.fromDocument(new FileDocument(path));
            validator.setCertificateVerifier(verifier);
            var report = validator.validateDocument().getSimpleReport();
            for (String id : report.getSignatureIdList()) {
                System.out.println(
                    path + " " + report.getSignatureFormat(id) + " " + report.getIndication(id));
            }
        }
    }
}
