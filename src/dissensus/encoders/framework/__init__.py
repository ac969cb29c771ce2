"""What encoders share: their base class, prepared inputs, stored vectors and the feature cache."""
